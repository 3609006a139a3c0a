# Two commands do all the set-up: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Also holds for the packages that build flexor itself.
export PIP_CONSTRAINT := $(abspath constraints.txt)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Bytecode is made of what is imported, when it is, not of every file of every package;
# and it is kept, also where the environment says otherwise.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/pip install -q --no-compile
# By contents, so that another copy of the source need not be checked from the start.
export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/flexor/mypy

.PHONY: run arena goal test rooms warm check bench wheel sample pictures tree clean

# Twenty seconds of the arena and ten of the goal: out/arena.mp4 and out/goal.mp4.
run: $(VENV)/.run
	mkdir -p out
	$(MAKE) --no-print-directory -j2 arena goal

arena:
	$(BIN)/flexor play arena --seed 12 --record out/arena.mp4 --seconds 20 --size 640x480

goal:
	$(BIN)/flexor play goal --record out/goal.mp4 --seconds 10 --size 640x480

# A process for each core: files of tests are shared out, those that take longest first.
PYTEST := $(BIN)/python -m pytest -q -n auto --durations=10

# What reaches kernels and is quick enough without the compiler; of test_ccd.py, which is
# not, the tests that alone reach some lines.
CCD := the_first_pass_is_plain_descent a_straight_chain_bends_for_a_target_on_its_line \
    a_goal_at_the_end_of_the_world_straightens_the_chain
UNCOMPILED := tests/maths/kernels tests/deform tests/pose/crowd tests/pose/play \
    $(filter-out %/test_ccd.py,$(wildcard tests/pose/ik/test_*.py)) \
    $(CCD:%=tests/pose/ik/test_ccd.py::test_%) \
    $(wildcard tests/pose/test_*.py) tests/pose/clips/test_root_motion.py \
    tests/api/test_stage.py tests/draw/raster/test_uncompiled.py \
    tests/convert/weights/test_score_bones.py \
    tests/convert/weights/test_smooth_weights.py tests/convert/shape/test_closest_points.py

# READY=1: the source has just been checked and the kernels are compiled.
test: $(if $(READY),$(VENV)/.dev,check warm)
	$(PYTEST) --dist loadfile --no-loadscope-reorder
	NUMBA_DISABLE_JIT=1 $(PYTEST) --dist worksteal -m "not jit and not slow" $(UNCOMPILED)

# What reaches machine code, files and the program, on another version of Python:
# make rooms PYTHON=python3.13 VENV=.venv/3.13
ROOMS := api cli deform files maths pose
rooms: warm
	$(PYTEST) --dist loadfile --no-loadscope-reorder $(ROOMS:%=tests/%)

TEST_KERNELS := $(wildcard tests/maths/kernels/test_*.py) tests/pose/ik/step_kernels.py \
    tests/maths/machine/test_entry.py tests/maths/machine/test_numbers.py

# Compiles the kernels that are not compiled yet, each once.
warm: $(VENV)/.dev
	$(BIN)/python -m tools.warm $(subst /,.,$(basename $(TEST_KERNELS)))

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.run
	$(BIN)/flexor bench

# A wheel with compiled kernels, for this platform and version of Python: dist/.
wheel: $(VENV)/.run
	$(BIN)/python -m tools.wheel

# Makes the built-in mannequin again.
sample: $(VENV)/.dev
	$(BIN)/python -m tools.mannequin

# Makes the pictures of the README again.
pictures: $(VENV)/.run
	$(BIN)/python -m tools.pictures

# Writes docs/internals/tree.md again.
tree: $(VENV)/.run
	$(BIN)/python -m tools.tree

# What the two games need; dual quaternions and envelopes are not, and take long.
PLAYED := convert.shape deform.kernels.crowd deform.kernels.file_order \
    deform.kernels.vertices draw maths pose stage

$(VENV)/.run: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@echo "compiling the kernels, once, while the rest is installed: two to three minutes"
	@$(BIN)/flexor warm $(PLAYED) & warm=$$!; \
	    $(PIP) -e ".[codecs,play,video]" || \
	    { echo "no codecs: fewer spectators"; $(PIP) -e ".[play,video]"; } && wait $$warm
	touch $@

# Holds all that `make run` needs, too.
$(VENV)/.dev: pyproject.toml constraints.txt
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(PIP) -e ".[dev]"
	touch $(VENV)/.run $@

clean:
	rm -rf $(VENV) out .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

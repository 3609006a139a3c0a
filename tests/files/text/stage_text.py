"""The text of a stage, written to a file."""

from __future__ import annotations

from pathlib import Path

FULL = """
seed = 7
light = [0.4, -1.0, -0.5]

[ground]
size = [24, 18]
step = 0.5
rough = 0.03

[[ground.patch]]
middle = [3, 2]
radius = 2.5
height = 0.3
edge = 1.0
surface = "sand"

[[ground.patch]]
area = [-9, -7, -5, -4]
rise = 0.5
tilt = [0.1, 0]

[[zone]]
name = "ring"
keeps = "in"
corners = [
    [-8, -6],
    [8, -6],
    [8, 6],
    [-8, 6],
]

[[zone]]
keeps = "out"
corners = [[0, 0], [1, 0], [0, 1]]

[[structure]]
name = "pillar"
middle = [2, 1]
radius = 0.4
low = 0.5
high = 3.0
mode = "fade"
solid = false
colour = "#8a8378"

[[structure]]
name = "wall"
ends = [[-4, -5], [4, -5]]
thickness = 0.3

[[structure]]
name = "hut"
corners = [[5, 3], [7, 3], [7, 5], [5, 5]]
fit = "circumscribed"

[[structure]]
name = "den"
corners = [[5, 3], [7, 3], [7, 5], [5, 5]]

[[character]]
name = "red"
file = "mannequin"
place = [-1.5, 0]
heading = 90
colour = "#d05040"
opponent = "blue"
team = "reds"
control = "free"
clips = { walk = "Walking_A", Punch = "Jab" }
speeds = { walk = 1.2 }

[[character]]
name = "blue"
file = "people/blue.glb"
colour = [0.2, 0.3, 0.8]
radius = 0.35
player = 2
skill = "low"
outfit = "none"

[buttons]
P = "B"

[move.punch]
button = "P"
clip = "Punch"
parts = ["rightHand"]
start = 6
hit = 3
back = 12

[[combination]]
name = "rush"
button = "X"
commands = "P:12 P"

[camera]
rule = "behind"
eye = [1, 2, 3]
target = [0, 1, 0]
of = "red"
frame = "pair"
distance = 5
height = 1.5
ease = 0.5
fov = 50

[walking]
walk = 1
run = 3
back = 0.9
side = 0.8
turn = 360
climb = 1.5
step = 0.3

[friction]
push = 20
effort = 0.1
brake = 2
uphill = 0.5
still = 0.3
moving = 0.2
factors = [1, 2, 4]
paces = [1, 0.7, 0.5]
gravity = 9.8

[fight]
energy = 120
stun = 17
guard_stun = 7
guard_share = 0.2
push_ticks = 11
friendly = true
nearest_ticks = 40
nearest_share = 0.5
lie_ticks = 30
rise_after = 8
break_ticks = 9
miss_ticks = 30

[parry]
amount = 0.7
ticks = 30
speed = 0.4
angle = 60
reach = 0.05
rest = 5
trunk = 10
head = 20
arms = 30
step = 0.8

[game]
title = "Dunes"
rounds = 3
seconds = 60
coins = true
countdown = 5
spectators = 12

[pads]
chord_ticks = 3
late_ticks = 4
repeats = true

[view]
fade = 0.5
margin = 0.2
keep = 0.3

[look]
style = "bones"
smooth = ["head", "chest"]
order = "sort"
background = "#102030"
plain = "stone"
shadows = false
feet = false
zones = false
backdrop = "city"
"""


def write(folder: Path, text: str, name: str = "stage.toml") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file

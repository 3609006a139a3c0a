"""How the page of a repair looks, and the script of its sliders: all it needs."""

from __future__ import annotations

from flexor.api.repair.joint_pictures import BAD, MOVED, OUTLINE

__all__ = ["SCRIPT", "style_sheet"]

STYLE = """
:root { color-scheme: light dark; --page: #f7f8f9; --card: #fff; --ink: #1d2126;
  --quiet: #5b6570; --line: #dde2e7; --stage: #e9ecef; --good: #17683a;
  --good-back: #dff3e6; --bad: #a32018; --bad-back: #fbe4e1; --chip: #e6ebf1;
  --old: #b9a79a; --new: #3f74b5 }
@media (prefers-color-scheme: dark) { :root { --page: #15181b; --card: #1d2125;
  --ink: #e4e8ec; --quiet: #9aa5b0; --line: #31373e; --stage: #33393f;
  --good: #7fd8a0; --good-back: #173524; --bad: #ff9d92; --bad-back: #44201c;
  --chip: #2b323a; --old: #7d7066; --new: #74a9e8 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
main { max-width: 1240px; margin: 0 auto; padding: 16px }
@media (min-width: 1800px) { main { max-width: 1560px } }
h1, h2, h3, p, ul, dl { margin: 0 }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 32px 0 10px }
h3 { font-size: 1.05rem; overflow-wrap: anywhere }
code { font-size: .92em; overflow-wrap: anywhere }
.quiet { color: var(--quiet) }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 12px 14px; margin-bottom: 14px }
.chips { display: flex; flex-wrap: wrap; gap: 6px; padding: 0; margin: 10px 0 0;
  list-style: none }
.chips li { background: var(--chip); border-radius: 99px; padding: 1px 11px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px;
  margin-top: 10px }
dt { color: var(--quiet) }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto; padding: 0 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: 5px 12px; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line) }
tr:last-child > * { border-bottom: 0 }
thead th { color: var(--quiet); font-weight: 500; vertical-align: bottom }
tbody th { font-weight: 500 }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--card);
  min-width: 8em; max-width: 46vw; white-space: normal; overflow-wrap: anywhere }
.facts { margin: 0; grid-template-columns: 1fr; gap: 0 }
.facts > div { display: grid; grid-template-columns: 13em 1fr; gap: 12px;
  padding: 4px 0; border-top: 1px solid var(--line); align-items: baseline }
@media (min-width: 900px) {
  .facts { grid-template-columns: 1fr 1fr; column-gap: 40px }
  .facts > div:nth-child(2) { border-top: 0 } }
@media (max-width: 480px) { .facts > div { grid-template-columns: 1fr; gap: 0 } }
.facts > div:first-child { border-top: 0 }
.said { display: flex; flex-wrap: wrap; gap: 2px 22px; padding: 0; list-style: none;
  margin-top: 8px; font-size: .93em }
p + .card { margin-top: 8px }
a { color: inherit; text-decoration-color: var(--quiet); text-underline-offset: 2px }
.better, .worse { border-radius: 4px; padding: 1px 5px }
td .better, td .worse { margin: 0 -5px }
.better { color: var(--good); background: var(--good-back) }
.worse { color: var(--bad); background: var(--bad-back) }
.bars { width: 130px; min-width: 90px }
.bars i { display: block; height: 5px; border-radius: 2px; min-width: 1px;
  background: var(--old) }
.bars i + i { margin-top: 2px; background: var(--new) }
.findings { list-style: none; padding: 0 }
.findings li { padding: 5px 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere }
.findings li:last-child { border-bottom: 0 }
.warning, .info { border-radius: 4px; padding: 1px 6px; font-size: .85em }
.warning { color: var(--bad); background: var(--bad-back) }
.info { background: var(--chip) }
summary { cursor: pointer; padding: 6px 0 }
.head { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline }
.views { display: grid; gap: 10px; margin-top: 10px;
  grid-template-columns: 1fr 1fr 1fr }
.views.alone { grid-template-columns: 1fr; max-width: 440px }
@media (max-width: 720px) { .views { grid-template-columns: 1fr 1fr; gap: 6px }
  .views figure:nth-child(3) { grid-column: 1 / -1 } }
figure { margin: 0; min-width: 0 }
figcaption { margin-bottom: 4px; min-height: 1.5em }
.stage { background: var(--stage); border-radius: 6px; overflow: hidden }
.stage img { width: 100%; height: auto }
.stage img:not([hidden]) { display: block }
.scrub { display: none; gap: 4px 12px; align-items: center; margin-top: 10px }
.live .scrub { display: grid; grid-template-columns: 9.5em max-content 1fr max-content }
.scrub output { font-weight: 600; font-variant-numeric: tabular-nums }
.scrub input { width: 100%; min-width: 0; margin: 0; accent-color: var(--new);
  height: 28px; cursor: ew-resize }
.scrub .quiet { font-variant-numeric: tabular-nums }
@media (max-width: 560px) {
  .live .scrub { grid-template-columns: max-content 1fr max-content }
  .scrub output { grid-column: 1 / -1 } }
.ramp, .spot, .rule { display: inline-block; border-radius: 3px; margin: 0 5px }
.ramp { width: 70px; height: .7em; vertical-align: -1px;
  background: linear-gradient(90deg, MOVED) }
.spot { width: .8em; height: .8em; vertical-align: -1px; background: BAD }
.rule { width: 1.6em; height: 2px; vertical-align: 4px; background: OUTLINE }
"""

# Pictures of a joint stand in each of its stages one behind the other, all but one of
# them hidden: also without this script one is seen.
SCRIPT = """
document.documentElement.classList.add("live");
for (const slider of document.querySelectorAll(".scrub input")) {
  const joint = slider.closest("section");
  const said = slider.dataset.said.split("|");
  const show = () => {
    const now = Number(slider.value);
    for (const stage of joint.querySelectorAll(".stage"))
      [...stage.children].forEach((frame, at) => { frame.hidden = at !== now; });
    joint.querySelector("output").textContent = said[now];
    slider.setAttribute("aria-valuetext", said[now]);
  };
  slider.addEventListener("input", show);
  show();
}
"""


def style_sheet() -> str:
    """The style of the page, with the colours that pictures have."""
    stops = ", ".join(_css(colour) for colour in MOVED)
    filled = STYLE.replace("MOVED", stops).replace("BAD", _css(BAD))
    return filled.replace("OUTLINE", _css(OUTLINE))


def _css(colour: tuple[int, int, int]) -> str:
    return f"rgb({colour[0]} {colour[1]} {colour[2]})"

"""How a run's end is noticed: the browser is asked about it, often at first, seldom later, never when nobody waits."""

from __future__ import annotations

import pytest

from .browser import Python
from .test_device import PREPARE

# A device whose maps resolve `ms` late, and a count of the questions asked meanwhile.
WATCH = """
from pyodide.code import run_js
watch = run_js('''(gpu, ms) => {
  const watch = { questions: 0, open: 0, most: 0 };
  const { pushErrorScope, popErrorScope } = gpu;
  gpu.pushErrorScope = (filter) => pushErrorScope.call(gpu, filter);
  gpu.popErrorScope = () => {
    watch.questions += 1;
    watch.most = Math.max(watch.most, (watch.open += 1));
    return popErrorScope.call(gpu).finally(() => (watch.open -= 1));
  };
  const { mapAsync } = GPUBuffer.prototype;
  GPUBuffer.prototype.mapAsync = async function (...args) {
    await mapAsync.apply(this, args);
    await new Promise((resolve) => setTimeout(resolve, ms));
  };
  watch.restore = () => (GPUBuffer.prototype.mapAsync = mapAsync);
  return watch;
}''')
plan, x, y = await load_scale(device, 2, 2.0), floats(1, 2), floats(0, 0)
watching = watch(device._js.gpu, ms)
try:
    await asyncio.gather(*(plan.run([x], [y]) for _ in range(runs)))
    asked = watching.questions
    await asyncio.sleep(0.3)
    later_asked = watching.questions - asked
finally:
    watching.restore()
device.destroy()
return [asked, later_asked, watching.most]
"""


@pytest.mark.parametrize("runs", [1, 8])
def test_a_waiting_run_asks_one_question_at_a_time_and_ends_asking(python: Python, runs: int) -> None:
    asked, later, most = python(PREPARE + WATCH, ms=50, runs=runs)
    assert asked > 0
    assert later <= 1, "the question that was open when the last run ended"
    assert most == 1


def test_a_long_run_is_asked_about_seldom(python: Python) -> None:
    short, _, _ = python(PREPARE + WATCH, ms=40, runs=1)
    long, _, _ = python(PREPARE + WATCH, ms=1500, runs=1)
    assert long - short < 40, "pauses double up to a tenth of a second"

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of report --html in a headless Chromium: charts, table, keys, dark and light, hostile text."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import chromium  # noqa: E402
from cli_case import A, B, C, CliCase, device, end, frame, header, noisy_log, one_pass, pass_info  # noqa: E402

if not chromium.find():
    print("no chromium here: skipped")
    sys.exit(77)

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"


def log(n, slow=1, gone=False):
    lines = [header(argv=["demo", HOSTILE]), device(name=HOSTILE), pass_info(A, "scene/shadow"), pass_info(B, HOSTILE),
             pass_info(C, "scene/late")]
    for i in range(n):
        start = 10**9 + i * 16 * 10**6
        passes = [one_pass(0, A, 1000 + i, "scene/shadow", gpu_start_ns=start + 10, queue="0.0",
                           counters={"samples_passed": 7 * i, "share": 0.25}, estimated=["samples_passed"]),
                  one_pass(1, B, int((3000 + 2 * i) * slow), HOSTILE, gpu_start_ns=start + 3000, queue="1.0")]
        if not gone:
            passes.append(one_pass(2, C, None, "scene/late", flags=["disjoint"]))
        lines.append(frame(i, passes, start_ns=start, cpu_ns=16 * 10**6 + (5 * 10**6 if i == 17 else i)))
    lines.append({"type": "note", "level": "info", "message": HOSTILE, "source": "mark", "time_ns": 10**9 + 5 * 16 * 10**6})
    return lines + [end(n, 3 * n)]


class Page(CliCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = chromium.Chromium(chromium.find())

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        if b"built without" in self.command("report", "--html", "-", "/nowhere").stderr:
            self.skipTest("built without --html")
        self.browser.events.clear()
        self.page = self.browser.page()
        self.page.size(1400, 1000)
        self.logs = [self.write_log("a.jsonl", log(60)), self.write_log("b.jsonl", log(50, 1.5, True))]

    def open(self, *logs):
        self.ok("report", "--html", "out.html", *logs)
        self.page.open((self.folder / "out.html").as_uri())

    def tearDown(self):
        self.assertEqual(self.page.problems(), [])
        self.assertEqual(self.page.js("[typeof window.pwned, document.querySelectorAll('[onerror]').length]"), ["undefined", 0])

    def names(self):
        return self.page.js("[...document.querySelectorAll('#passes tbody td:first-child')].map(e => e.textContent)")

    def test_no_complete_frame(self):
        lines = log(2)
        for line in lines:
            if line["type"] == "frame":
                line["flags"] = ["partial"]
        self.open(self.write_log("partial.jsonl", lines))
        self.assertIn("No complete frame: all 2 frames were cut", self.page.js("document.getElementById('answer').textContent"))
        for gone in ("frames", "hitches", "typical"):
            self.assertFalse(self.page.js(f"document.getElementById('{gone}')"), gone)
        self.page.key("ArrowRight")
        self.page.key("z")
        self.assertEqual(len(self.names()), 3)

    def test_table_sorts_and_filters(self):
        self.open(self.logs[0])
        self.assertEqual(self.names(), [HOSTILE, "scene/shadow", "scene/late"])
        self.assertLessEqual(self.page.js("document.querySelectorAll('#passes th').length"), 6)
        self.page.click("#all")
        self.page.click('[data-key="name"]')
        self.page.click('[data-key="mean"]')
        self.assertEqual(self.names()[0], HOSTILE)
        self.page.click('[data-key="mean"]')
        self.assertEqual(self.names(), ["scene/shadow", HOSTILE, "scene/late"])
        self.assertEqual(self.page.js("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "ascending")
        self.page.key("/")
        self.page.type("disjoint")
        self.assertEqual(self.names(), ["scene/late"])
        cells = self.page.js("[...document.querySelectorAll('#passes tbody td')].map(e => [e.textContent, e.title])")
        self.assertIn(["-", "not measured; flags of this pass: disjoint"], cells)

    def test_frames_zoom_and_keys(self):
        self.open(self.logs[0])
        self.page.wait("document.querySelectorAll('.lane button.bar').length === 2")
        self.assertEqual(self.page.js("document.querySelectorAll('.lane').length"), 3) # the CPU's, too
        whole = self.page.js("passtally.view.frames.xAxisRange()")
        self.page.drag("#frames", 0.3, 0.6)
        zoomed = self.page.js("passtally.view.frames.xAxisRange()")
        self.assertLess(zoomed[1] - zoomed[0], 0.5 * (whole[1] - whole[0]))
        self.page.key("z")
        self.assertEqual(self.page.js("passtally.view.frames.xAxisRange()"), whole)
        self.page.key("s")
        self.assertEqual(self.page.js("document.getElementById('frame').value"), "17")
        self.page.key("ArrowRight")
        self.page.wait("document.getElementById('frame-facts').textContent.includes('frame time 16.00 ms')")
        self.assertEqual(self.page.js("document.getElementById('frame').value"), "18")
        self.page.click("#frames", 0.9)
        self.assertGreater(int(self.page.js("document.getElementById('frame').value")), 45)
        facts = self.page.js("passtally.passesOf(passtally.meta.logs[0].devices[0], 5)")
        self.assertEqual([(p["start"], p["gpu"]) for p in facts], [(10, 1005), (3000, 3010), (None, None)])

    def test_slow_frames_are_cut_off(self):
        self.open(self.logs[0])
        heights, pressed = "passtally.view.frames.yAxisRange()[1]", "document.getElementById('cut').getAttribute('aria-pressed')"
        # The 99th percentile of 60 values is the largest, 21 ms; 1.15 of it is shown.
        self.assertAlmostEqual(self.page.js(heights), 24.15, places=6)
        self.assertEqual(self.page.js(pressed), "true")
        self.page.key("p")
        self.assertEqual(self.page.js(pressed), "false")
        self.assertNotAlmostEqual(self.page.js(heights), 24.15, places=6)
        self.page.key("p")
        self.page.drag("#frames", 0.5, 0.8)
        zoomed = self.page.js("passtally.view.frames.xAxisRange()")
        self.page.key("t")
        self.page.wait("passtally.renders > 1")
        self.assertEqual(self.page.js("passtally.view.frames.xAxisRange()"), zoomed)
        self.assertAlmostEqual(self.page.js(heights), 24.15, places=6)
        self.page.key("z")
        self.assertAlmostEqual(self.page.js(heights), 24.15, places=6)
        self.assertEqual(self.page.js(pressed), "true")

    def test_frame_and_zoom_are_in_the_address(self):
        self.open(self.logs[0])
        middle = self.page.js("passtally.meta.logs[0].devices[0].cpu_ns.p50")
        self.assertEqual(self.page.js("passtally.meta.logs[0].devices[0].read.cpu[passtally.state.row]"), middle)
        self.page.drag("#frames", 0.3, 0.6)
        self.page.key("s")
        self.page.wait("document.querySelector('#frame-bars[data-frame=\"17\"]')")
        self.page.click("#frame-closer")
        self.page.wait("/frame=17&from=.*&to=.*&scale=2/.test(location.hash)")
        window = self.page.js("passtally.view.frames.xAxisRange()")
        self.page.js("window.before = true; location.reload()")
        self.page.wait("!window.before && window.passtally && passtally.renders > 0 && document.querySelector('#frame-bars[data-frame]')")
        self.assertEqual(self.page.js("[document.getElementById('frame').value, passtally.state.scale]"), ["17", 2])
        self.assertEqual(self.page.js("passtally.view.frames.xAxisRange()"), window)
        self.page.open((self.folder / "out.html").as_uri() + "#frame=50")
        self.page.wait("document.getElementById('frame')?.value === '50'")

    def test_one_frame_against_the_median_frame(self):
        self.open(self.logs[0])
        self.page.key("s")
        self.page.wait("document.getElementById('frame').value === '17' && document.querySelector('#frame-passes tbody tr')")
        rows = self.page.js("[...document.querySelectorAll('#frame-passes tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual([r[:4] for r in rows], [["scene/shadow", "1.017", "1.029", "-0.012"], [HOSTILE, "3.034", "3.058", "-0.024"],
                                                 ["scene/late", "-", "-", "-"]])
        self.assertEqual(self.page.js("document.querySelectorAll('.lane.cpu .bar.frame').length"), 1)

    def test_labels_are_a_tree(self):
        lines = [header(), device(), pass_info(A, "Bloom/Down 0"), pass_info(B, "Bloom/Up 0"), pass_info(C, "UI")]
        lines += [frame(i, [one_pass(0, A, 3000, "Bloom/Down 0"), one_pass(1, B, 3000, "Bloom/Up 0"), one_pass(2, C, 2000, "UI")],
                        start_ns=16 * 10**6 * i) for i in range(20)]
        self.open(self.write_log("t.jsonl", lines + [end(20, 60)]))
        self.page.wait("document.querySelectorAll('.icicle .bar').length === 4")
        words = self.page.js("[...document.querySelectorAll('.icicle .bar')].map(e => e.title)")
        self.assertEqual(words, ["Bloom: 2 passes, 75 %, 6.000 us", "Bloom/Down 0: 38 %, 3.000 us", "Bloom/Up 0: 38 %, 3.000 us",
                                 "UI: 25 %, 2.000 us"])
        self.page.click(".icicle .bar")
        self.assertEqual(sorted(self.names()), ["Bloom/Down 0", "Bloom/Up 0"])

    def test_passes_drawn_together(self):
        """Their time is a part of the frame, and theirs alone is not known."""
        lines = [header(), device(), pass_info(A, "Bloom/Down"), pass_info(B, "Bloom/Up"), pass_info(C, "UI")]
        lines += [frame(i, [one_pass(0, A, 3000, "Bloom/Down"), one_pass(1, B, None, "Bloom/Up", flags=["shared_time"]),
                            one_pass(2, C, None, "UI", flags=["shared_time"])],
                        start_ns=16 * 10**6 * i, gpu_ns=12000, envelope_ns=12000, coverage=0.25, unattributed={"gpu_ns": 9000})
                  for i in range(20)]
        self.open(self.write_log("t.jsonl", lines + [end(20, 60)]))
        self.page.wait("document.querySelectorAll('.icicle .bar').length === 3")
        self.assertEqual(self.page.js("[...document.querySelectorAll('.icicle .bar')].map(e => e.title)"),
                         ["Bloom: 2 passes, 25 %, 3.000 us", "Bloom/Down: 25 %, 3.000 us",
                          "(passes drawn together): 75 %, 9.000 us"])
        rows = self.page.js("[...document.querySelectorAll('#frame-passes tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual([(r[0], r[1], r[4]) for r in rows],
                         [("Bloom/Down", "3.000", "25.0 %"), ("Bloom/Up", "-", "-"), ("UI", "-", "-"),
                          ("(passes drawn together)", "9.000", "75.0 %")])
        self.assertIn("passes drawn together 9.000 us", self.page.js("document.getElementById('frame-facts').textContent"))
        n = self.page.js("[...document.querySelectorAll('#passes tbody tr')].map(r => r.cells[4].textContent)")
        self.assertEqual(n, ["20"] * 4)
        self.assertIn("2 passes left out: small, seldom there, or without a time", self.page.js("document.body.textContent"))

    def test_answer_and_hitches(self):
        lines = [header(argv=["python3", "./game.py"]), device(), pass_info(A, "main"), pass_info(B, "probe")]
        start = 10**9
        for i in range(200):
            slow = i == 120
            passes = [one_pass(0, A, 9 * 10**6, "main")] + ([one_pass(1, B, 40 * 10**6, "probe")] if slow else [])
            cpu = 50 * 10**6 if slow else 10**7
            lines.append(frame(i, passes, start_ns=start, cpu_ns=cpu))
            start += cpu
        self.open(self.write_log("h.jsonl", lines + [end(200, 201)]))
        self.page.wait("document.querySelector('.hitch')")
        self.assertEqual(self.page.js("[...document.querySelectorAll('.hitch')].map(e => [...e.children].map(c => c.textContent))")[0][:3],
                         ["frame 120", "+40.00 ms", "probe 40.0 ms, its first use, or a wait of the CPU"])
        answer = json.loads(self.ok("report", "--json", "h.jsonl").stdout)["reports"][0]["answers"][0]
        self.assertIn(answer["bound"]["text"].lower(), self.page.js("document.getElementById('answer').textContent.toLowerCase()"))
        self.page.click(".hitch")
        self.page.wait("document.getElementById('frame').value === '120'")
        self.assertEqual(self.page.js("document.getElementById('title').textContent"), "game.py")
        self.page.size(1400, 900)
        self.assertLess(self.page.js("document.getElementById('frames').getBoundingClientRect().bottom + scrollY"), 900)

    def test_a_log_without_its_end(self):
        """A run that was killed says so at the top, not in About alone."""
        self.open(self.write_log("k.jsonl", log(20)[:-1]))
        self.assertIn("no end line: the program was killed", self.page.js("document.getElementById('subtitle').textContent"))

    def test_the_start_and_a_hang(self):
        """What the text leads with: the time until the first frame, what was loaded, no frame at the end."""
        left_out = "First frame, 500 ms, left out as loading (--warmup 0 keeps it)"
        for begins, start, below in ((10**8, "1.40 s until the first frame was there, 500 ms of it that frame itself", f"{left_out}."), (0, left_out, "")):
            lines = log(60)[:-1]
            frames = [line for line in lines if line["type"] == "frame"]
            frames[0].update(events=[{"kind": "pipeline", "n": 30, "ns": 4 * 10**8, "own_ns": 4 * 10**8}], cpu_ns=5 * 10**8)
            lines[0].update(process_start_ns=begins)
            for line in frames[1:]:
                line["start_ns"] += 5 * 10**8
            lines.append({"type": "process", "time_ns": 10**10, "period_ns": 9 * 10**9, "ready_ns": 0})
            self.open(self.write_log("k.jsonl", lines))
            self.assertEqual(self.page.js("[...document.querySelectorAll('#answer .first, #answer .change')].map((e) => e.textContent)"),
                             ["No frame for the last 7.54 s or more.", "Bound by: cannot tell, GPU times are missing in 59 of 59 frames.", f"{start}; 30 shaders made, 400 ms."])
            answer = self.page.js("document.getElementById('answer').textContent")
            self.assertIn(f"59 frames. {below} passtally costs", answer)
            self.assertNotIn("% low", answer) # of fewer than a hundred frames
            self.assertIn("frame time, longest", answer)

    def test_two_windows(self):
        """The one with most GPU work is first, and named; the other has a paragraph."""
        lines = [header(), device(), pass_info(A, "tool"), pass_info(B, "main")]
        for i in range(100):
            main = i % 2
            lines.append(frame(i, [one_pass(0, B if main else A, (9 if main else 1) * 10**6, "main" if main else "tool", surface=main)],
                               start_ns=10**9 + i * 10**7, cpu_ns=10**7, width=640 if main else 320, height=100))
        self.open(self.write_log("w.jsonl", [*lines, end(100, 100)]))
        text = self.page.js("document.getElementById('answer').textContent")
        self.assertTrue(text.startswith("Window 1 of 2, 640x100: "), text)
        self.assertIn("Window 2 of 2, 320x100: ", text)
        self.assertIn("Typical frame, 1.00 ms on the GPU: tool 1.000 ms 100.0 %.", self.page.js("document.querySelector('.window').innerText"))
        self.assertIn("main", self.page.js("document.getElementById('typical').textContent"))
        # Each is in half of the frames, and in all of its window's.
        self.assertEqual(self.page.js("document.getElementById('sums').textContent"),
                         "frames 0 to 99: 5.000 ms a framemain 4.500 mstool 500.0 us")

    def test_a_pause_is_a_gap(self):
        """No line is drawn across frames that were not captured, and a mark made during the pause appears in the
        pause."""
        lines = [header(), device(), pass_info(A)]
        for i in [*range(20), *range(60, 80)]:
            lines.append(frame(i, [one_pass(0, A, 10**6)], start_ns=10**9 + i * 10**7, cpu_ns=10**7))
        for word, frames in (("before", 5.5), ("half", 40), ("after", 70.5)):
            lines.append({"type": "note", "level": "info", "message": word, "source": "mark", "time_ns": int(10**9 + frames * 10**7)})
        self.open(self.write_log("p.jsonl", [*lines, end(40, 40)]))
        marks = self.page.js("markRows(passtally.meta.logs[0], passtally.meta.logs[0].devices[0]).map((m) => [m.word, m.x])")
        self.assertEqual([(word, round(x)) for word, x in marks], [("before", 5), ("half", 40), ("after", 70)])
        rows = self.page.js("Array.from({length: passtally.view.frames.numRows()}, (_, i) => [0, 1, 3].map((c) => passtally.view.frames.getValue(i, c)))")
        none = [None, None, None]
        self.assertEqual([row for row in rows if row[1] == none], [[19.5, none, none]])
        self.page.click("#frames", 0.5)
        self.assertIn(self.page.js("document.getElementById('frame').value"), ("19", "60"))

    def test_back_keeps_place_and_focus(self):
        self.open(self.logs[0])
        self.page.size(1000, 500)
        self.page.js("document.querySelector('#passes tbody tr:nth-child(2) button').focus()")
        self.page.js("scrollTo(0, 400)")
        was = self.page.js("scrollY")
        self.assertGreater(was, 100)
        for leave in ("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))", "history.back()",
                      "document.getElementById('back').click()"):
            self.page.key("Enter")
            self.page.wait("document.querySelector('#values') && document.activeElement.id === 'heading' && scrollY === 0")
            self.page.js(leave)
            self.page.wait("document.querySelector('#passes') && document.activeElement.closest('tr')")
            self.page.wait(f"scrollY === {was}")
            self.assertEqual(self.page.js("document.activeElement.closest('tr').cells[0].textContent"), "scene/shadow")

    def test_a_pass_has_marks_and_words(self):
        self.open(self.logs[0])
        self.page.click("#passes tbody tr:nth-child(2)")
        self.page.wait("document.querySelectorAll('#series svg .quantile').length === 2")
        self.assertEqual(self.page.js("[...document.querySelectorAll('h3')].map(e => e.textContent)"),
                         ["GPU time over the run", "Distribution of GPU time"])
        self.assertEqual(self.page.js("[...document.querySelectorAll('#series svg text')].map(e => e.textContent).filter(t => t[0] === 'p')"),
                         ["p50", "p99"])
        self.assertEqual(self.page.js("document.getElementById('cut').getAttribute('aria-pressed')"), "true")

    def test_narrow(self):
        long_path = "/home/somebody/.local/state/" + "a" * 90 + ".jsonl"
        lines = log(30)
        lines[0] = header(options={"log": long_path, "period": "2ms", "counters": "x" * 120})
        a = self.write_log("n.jsonl", lines)
        for logs in ([a], [a, self.logs[1]]):
            self.page.size(390, 844)
            self.open(*logs)
            self.page.wait("document.querySelector('#passes tbody tr')")
            self.page.js("document.querySelectorAll('details').forEach(e => e.open = true)")
            self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), 390)
            self.assertNotIn("/home/somebody", self.page.js("document.body.textContent"))
        self.assertLessEqual(self.page.js("document.querySelector('#both').getBoundingClientRect().right"), 390)

    def test_tables_as_csv(self):
        self.open(self.logs[0])
        self.assertEqual(self.page.js("csvOf([['pass', 'n'], ['a,\"b\"', 1.5], ['=1+1', NaN]])"), 'pass,n\r\n"a,""b""",1.5\r\n\'=1+1,\r\n')
        self.assertEqual(self.page.js("document.querySelectorAll('[data-place^=csv]').length"), 2)

    def test_letters_can_be_switched_off(self):
        self.open(self.logs[0])
        self.page.click("#keys")
        self.page.click("#letters")
        self.page.js("document.activeElement.blur()")
        before = self.page.js("document.documentElement.dataset.theme")
        self.page.key("t")
        self.assertEqual(self.page.js("document.documentElement.dataset.theme"), before)

    def test_pass_and_back(self):
        self.open(self.logs[0])
        self.page.click("#passes tbody tr:nth-child(2)")
        self.page.wait("document.querySelector('#series svg') && document.querySelector('#series canvas')")
        text = self.page.js("document.querySelector('#values').textContent")
        self.assertIn("samples_passed", text)
        self.assertIn("~206.5", text)
        self.page.click('#values tr[data-key="samples_passed"]')
        self.page.wait("document.querySelector('#series h3')?.textContent === 'Samples passed over the run'")
        self.page.click("#series .chart", 0.95)
        self.page.wait("document.querySelector('#passes')")
        self.assertGreater(int(self.page.js("document.getElementById('frame').value")), 45)
        self.page.click("#passes tbody td")
        self.page.wait("document.querySelector('#values')")
        self.page.key("Escape")
        self.page.wait("document.querySelector('#passes')")

    def test_each_device_has_its_view(self):
        lines = log(5)
        second = [device(1, name="beneath")] + [frame(i, [one_pass(0, C, 77, "scene/late")], 1) for i in range(4)]
        both = self.write_log("d.jsonl", lines[:-1] + second + lines[-1:])
        self.open(both, both)
        words = self.page.js("[...document.querySelector('#which').options].map(o => o.textContent)")
        self.assertEqual([w.split(": ")[0] for w in words], ["Both", "Both", "Only A", "Only A", "Only B", "Only B"])
        self.page.choose("#which", 1)
        self.page.wait("document.querySelectorAll('#passes tbody tr').length === 1")
        self.assertIn("beneath", self.page.js("document.querySelector('#both-facts').textContent"))
        self.page.choose("#which", 4)
        self.page.wait("document.querySelectorAll('#passes tbody tr').length === 3")
        self.assertEqual(self.page.js("[passtally.state.log, passtally.state.device, passtally.state.compare]"), [1, 0, False])

    def test_dark_and_light(self):
        self.page.prefers("dark")
        self.open(self.logs[0])
        back = "getComputedStyle(document.body).backgroundColor"
        dark = self.page.js(back)
        self.page.key("t")
        self.page.wait(f"{back} !== '{dark}'")
        self.assertEqual(dark, "rgb(20, 24, 31)")
        self.assertEqual(self.page.js(back), "rgb(255, 255, 255)")

    def test_the_theme_of_the_system_is_followed(self):
        self.page.prefers("light")
        self.open(self.logs[0])
        for scheme in ("dark", "light"):
            self.page.prefers(scheme)
            self.page.wait(f"document.documentElement.dataset.theme === '{scheme}'")

    def test_two_logs(self):
        self.open(*self.logs)
        self.page.wait("document.querySelectorAll('#passes tbody tr').length === 3")
        rows = self.page.js("[...document.querySelectorAll('#passes tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        by = {r[0]: r[1:] for r in rows}
        self.assertEqual(by["scene/late"][0], "gone in B")
        self.assertEqual(by[HOSTILE][3], "+49.5%")
        self.page.click("#passes tbody tr:nth-child(1)")
        self.page.wait("document.querySelectorAll('#series svg rect.b').length")
        self.page.key("Escape")
        self.page.wait("document.querySelector('#both')")
        self.page.choose("#by", "samples_passed")
        self.assertEqual(self.page.js("[...document.querySelectorAll('#passes tbody tr')].map(r => r.cells[2].textContent)[0]"), "~206.5")

    def test_two_logs_are_judged(self):
        def run(name, main, driver="1", more=0):
            lines = [header(), device(driver_version=driver), pass_info(A, "shadow"), pass_info(B, "main")]
            lines += [frame(i, [one_pass(0, A, 10**6 + more + i * 7919 % 1000, "shadow"), one_pass(1, B, main + i * 6133 % 1000, "main")],
                            start_ns=16 * 10**6 * i, cpu_ns=main + 2 * 10**6) for i in range(200)]
            return self.write_log(name, lines + [end(200, 400)])
        before, after, other = run("x.jsonl", 5 * 10**6), run("y.jsonl", 9 * 10**6, more=9), run("z.jsonl", 9 * 10**6, "2")
        self.open(before, after)
        self.page.wait("document.querySelectorAll('#passes tbody tr').length === 2")
        said = json.loads(self.command("compare", "--json", before, after).stdout)
        words = {s["name"]: next(v["verdict"] for v in s["values"] if v["key"] == "gpu_ns") for s in said["subjects"] if s["what"] == "pass"}
        shown = self.page.js("Object.fromEntries([...document.querySelectorAll('#passes tbody tr')].map(r =>"
                             "[r.cells[0].textContent, [r.cells[1].textContent, r.className]]))")
        self.assertEqual((words["main"], shown["main"]), ("more", ["slower", ""]))
        self.assertEqual(shown["shadow"][1], "noise")
        self.assertEqual(self.page.js("passtally.meta.verdict.conclusion"), said["conclusion"])
        self.assertIn("main +80.0%", self.page.js("document.getElementById('verdict').textContent"))
        self.assertEqual(self.page.js("document.querySelectorAll('#passes .noise .bad, #passes .noise .good').length"), 0)
        # A pass's own page, "B - A" of its GPU time: the color is the verdict's, not the number's.
        def difference(name):
            self.page.wait("document.querySelectorAll('#passes tbody tr').length === 2")
            self.page.js(f"[...document.querySelectorAll('#passes tbody tr')].find(r => r.cells[0].textContent === '{name}').cells[0].click()")
            self.page.wait("document.querySelectorAll('#values tbody tr').length > 1")
            cell = self.page.js("(() => { const t = document.querySelector('#values'), heads = [...t.tHead.rows[0].cells].map(c => c.textContent),"
                                "at = heads.indexOf('change'), rows = [...t.tBodies[0].rows].filter(r => /GPU/.test(r.cells[0].textContent));"
                                "return rows.map(r => r.cells[at]).filter(c => c.textContent).map(c => [c.textContent, c.className, c.title]) })()")
            self.page.key("Escape")
            return cell
        self.assertEqual(difference("main")[0][:2], ["+80.0%", "bad"])
        self.assertEqual(difference("shadow")[0][:2], ["+0.00%", ""])
        self.open(before, other)
        self.page.wait("document.getElementById('verdict')?.textContent.startsWith('NOT COMPARED')")
        self.assertEqual(self.page.js("document.querySelectorAll('#passes .bad, #passes .good').length"), 0)
        self.assertEqual(difference("main")[0][:2], ["+80.0%", ""])

    def test_two_logs_are_judged_in_the_words_of_compare(self):
        lines = [noisy_log(*slow) for slow in ((1, 1), (1.02, 1.6))]
        lines[1][0] = {**lines[1][0], "argv": ["demo", "--shadows"]}
        # Frames that only one of them leaves out as loading are left out of both.
        for line in [line for line in lines[1][:30] if line["type"] == "frame"]:
            line["cpu_ns"] *= 9
            for item in line["passes"]:
                item["gpu_ns"] *= 9
        logs = [self.write_log(f"{name}.jsonl", log) for name, log in zip("ab", lines)]
        text = self.ok("compare", "--all", *logs).stdout.decode().splitlines()
        said = {cells[0]: cells[1:] for cells in (re.split("  +", line) for line in text) if len(cells) == 6}
        self.open(*logs)
        self.page.wait("document.querySelectorAll('#passes tbody tr').length === 5")
        shown = self.page.js("[...document.querySelectorAll('#passes tbody tr, #both tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        for name in [f"pass {i}" for i in range(5)]:
            cells = next(cells for cells in shown if cells[0] == name)
            self.assertEqual([cells[4], cells[5], cells[1]], said[name][2:], name)
            self.assertEqual(cells[2:4], said[name][:2])
        for name, key in (("Frame time, mean", "frame time"), ("GPU time, mean", "frame, GPU")):
            change, interval, verdict = said[key][2:]
            self.assertEqual(next(cells for cells in shown if cells[0] == name)[3:], [f"{change} (99 %: {interval}): {verdict}"])
        words = self.page.js("document.getElementById('verdict').innerText")
        self.assertTrue(words.startswith(text[0]), words)
        differ = [line.split(": ", 1)[1] for line in text if line.startswith("differs: ")]
        self.assertEqual((len(differ), [line for line in differ if line not in words]), (1, []), words)  # in which way the runs do
        self.assertIn("* judged against the other passes", self.page.js("document.getElementById('method').innerText"))
        order = "[...document.querySelectorAll('#verdict, #both, #passes, #method')].map(e => e.id)"
        self.assertEqual(self.page.js(order), ["verdict", "both", "passes", "method"])

    def test_a_frame_cut_short_is_one_of_the_frames_of_a_pass(self):
        lines = [header(), device(), pass_info(A)]
        whole = self.write_log("w.jsonl", [*lines, frame(0, [one_pass(0, A, 1000)]), end(1, 1)])
        cut = self.write_log("c.jsonl", [*lines, frame(0, [one_pass(0, A, 3000)]),
                                         frame(1, [one_pass(0, A, 3000)], flags=["partial"]), end(2, 2)])
        self.open(whole, cut)
        self.page.wait("document.querySelector('#passes tbody tr')")
        row = self.page.js("[...document.querySelector('#passes tbody tr').cells].map(c => c.textContent)")
        self.assertEqual(row[4:], ["+200%", "-", "+2.000"]) # in both frames, so its difference is that of the frames
        self.open(cut)
        self.page.click("#passes tbody td")
        self.page.wait("document.querySelector('#values')")
        self.assertIn("2 of 2 frames", self.page.js("document.body.textContent"))

    def test_what_a_pass_draws_to(self):
        info = pass_info(A, "Lighting", width=1280, height=720, color=["RGBA8"], depth="DEPTH24_STENCIL8", load="clear", store="store")
        lines = [header(), device(), info]
        lines[1]["counters"].append({**lines[1]["counters"][0], "key": "fragment_shader_invocations"})
        lines += [frame(i, [one_pass(0, A, 10**6, "Lighting", counters={"fragment_shader_invocations": 1280 * 720 * 3})]) for i in range(3)]
        self.open(self.write_log("t.jsonl", lines + [end(3, 3)]))
        self.page.click("#passes tbody td")
        self.page.wait("document.querySelector('#values')")
        words = self.page.js("document.querySelector('dl').innerText.replace(/\\s+/g, ' ')")
        for part in ("Target 1280 x 720, RGBA8 + DEPTH24_STENCIL8", "Load clear", "Store store",
                     "Cost 3 fragments shaded a pixel: more than one lies over another", "; stores up to 7.37 MB: 3.69 MB would do if ",
                     "; to find out what limits it: draw it at half"):
            self.assertIn(part, words)

    def test_almost_no_difference(self):
        """Under half of the last digit no difference has a sign; a pass has one color everywhere."""
        lines = [header(), device(), pass_info(A, "main/small"), pass_info(B, "main/large")]
        lines += [frame(i, [one_pass(0, A, 10**6), one_pass(1, B, 4 * 10**6 + 300 * (i == 1))], unattributed={"gpu_ns": 3 * 10**6})
                  for i in range(5)]
        self.open(self.write_log("almost.jsonl", lines + [end(5, 10)]))
        self.page.wait("document.querySelector('#sums .swatch')")
        self.page.choose("#frame", "1")
        rows = self.page.js("[...document.querySelectorAll('#frame-passes tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        self.assertEqual([r[3] for r in rows], ["0.000"] * 3)
        colors = self.page.js("['#frame-passes', '#passes'].map(t => [...document.querySelectorAll(t + ' tbody tr .swatch')].map(s => s.style.background).sort())")
        self.assertEqual(colors[0], colors[1])
        first = self.page.js("document.querySelector('#sums .swatch').style.background")  # main, as in the bar above
        self.assertEqual(first, self.page.js("document.querySelector('#typical .bar').style.background"))

    def test_one_pass(self):
        """Its draws and what would tell them apart; nothing is left out, and no row is of nothing."""
        lines = [header(), device(), pass_info(A, "main")]
        lines += [frame(i, [one_pass(0, A, 10**6, "main", draws=6, vertices=18)], cpu_ns=2 * 10**6, start_ns=2 * 10**6 * i,
                        envelope_ns=10**6, unattributed={"gpu_ns": 0, "counters": {"cpu_page_faults": 4}, "estimated": ["cpu_page_faults"]})
                  for i in range(20)]
        self.open(self.write_log("one.jsonl", lines + [end(20, 20)]))
        self.page.wait("document.querySelector('#passes tbody tr')")
        self.assertIn("6 draws, 18 vertices a frame; --granularity draw times each.", self.page.js("document.querySelector('#typical').textContent"))
        self.assertEqual(self.names(), ["main"])
        self.assertEqual(self.page.js("document.getElementById('count').textContent"), "1 of 1 pass")
        self.assertNotIn("left out", self.page.js("document.querySelector('#stack').parentNode.textContent"))
        self.assertEqual(self.page.js("document.getElementById('frame-facts').textContent"),
                         "frame time 2.000 ms · GPU 1.000 ms · in passes 100.0 % · passtally 1.000 us")
        self.open(*[self.write_log(f"{name}.jsonl", lines + [end(20, 20)]) for name in ("one", "same")])
        self.page.wait("document.querySelector('#passes tbody tr')")
        self.assertEqual(self.names(), ["main"])

    def test_pictures(self):
        """In the page: each is seen, leads to its pass, and has a name there."""
        lines = [header(), device(), pass_info(A, "sky"), pass_info(B, HOSTILE), pass_info(C, "ui")]
        for i in range(20):
            numbers = {10: (1, 2, 3, 4), 12: (2, 0, 0, 0)}.get(i, (0, 0, 0, 0)) # 12: recorded earlier
            passes = [one_pass(k, ident, 10**6, **({"picture": number} if number else {}), **({"segment": 1} if k == 3 else {}))
                      for k, (ident, number) in enumerate(zip((A, B, C, A), numbers))]
            lines.append(frame(i, passes, start_ns=10**9 + i * 10**7, cpu_ns=10**8 if i == 10 else 10**7, flags=["pictured"] if i == 10 else []))
        log = self.write_log("a %#1.jsonl", lines + [end(20, 80)])
        for number, kind in ((1, "color0"), (1, "depth"), (2, "color0"), (4, "color1")):
            (self.folder / f"a %#1-{number}-{kind}.png").write_bytes(chromium.PNG)
        self.open(log)
        self.page.wait("[...document.querySelectorAll('#pictures img, #passes img')].every(e => e.complete && e.naturalWidth === 2)")
        words = self.page.js("[...document.querySelectorAll('#pictures li')].map(e => e.innerText.split('\\n').filter(Boolean))")
        self.assertEqual(words, [["sky", "2.000 ms in 2 parts"], [HOSTILE, "1.000 ms"],
                                 ["no picture: see the notes", "ui", "1.000 ms"], ["sky", "2.000 ms in 2 parts"]])
        self.assertEqual(self.page.js("document.querySelectorAll('#pictures img').length"), 3)
        self.assertEqual(self.page.js("document.querySelectorAll('#passes img').length"), 2)
        self.assertTrue(self.page.js("Number.isNaN(passtally.meta.logs[0].devices[0].read.cpu[10])"))
        self.page.click("#pictures li:last-child button")
        self.page.wait("document.querySelector('figure')")
        self.assertEqual(self.page.js("[...document.querySelectorAll('figure img')].map(e => e.alt)"),
                         ["sky, color0, part 1", "sky, depth, part 1", "sky, color1, part 2"])

    def test_pipelines(self):
        """The rows of report --by pipeline, each with its passes; a pass shows its own."""
        lines = [header(), device(), pass_info(A, "sky"), pass_info(B, "ui")]
        for ident, name in (("a", HOSTILE), ("b", None)):
            lines.append({"type": "pipeline", "id": ident * 16, "kind": "render", **({"name": name} if name else {}), "stages": [],
                          **({} if name else {"statistics": {"main: Instructions": 70, "main: Spill Count": 3}})})
        one = one_pass(0, A, 10**6, draws=2, pipelines=[{"id": "a" * 16, "draws": 2}])
        two = one_pass(1, B, 10**6, draws=5, pipelines=[{"id": "a" * 16, "draws": 1}, {"id": "b" * 16, "draws": 4}])
        self.open(self.write_log("p.jsonl", [*lines, *(frame(i, [one, two]) for i in range(9)), end(9, 18)]))
        cells = "[...document.querySelectorAll('#pipelines tr')].map(r => [...r.cells].map(c => c.innerText))"
        head = ["pipeline", "draws", "instructions", "spills"]
        b = ["bbbbbbbb", "4", "70", "3"]
        self.assertEqual(self.page.js(cells), [[*head, "passes"], [*b, "ui"], [HOSTILE, "3", "-", "-", "sky, ui"]])
        self.page.click("#pipelines tr:last-child button")
        self.page.wait("document.querySelector('#heading')?.textContent === 'sky'")
        self.assertEqual(self.page.js(cells), [["pipeline", "draws", "all its passes"], [HOSTILE, "3", "sky, ui"]])

    def test_passes_over_the_run(self):
        """Stacked, and what is dragged over is added up."""
        lines = [header(argv=["demo", "--level", "castle"]), device(), pass_info(A, "Bloom/Up"), pass_info(B, "UI")]
        for i in range(200):
            lines.append(frame(i, [one_pass(0, A, (2 if i < 100 else 6) * 10**6, "Bloom/Up"), one_pass(1, B, 10**6, "UI")],
                               start_ns=10**9 + i * 10**7, cpu_ns=(5 if i < 100 else 9) * 10**6))
        self.open(self.write_log("s.jsonl", lines + [end(200, 400)]))
        sums = "document.getElementById('sums').textContent"
        self.assertEqual(self.page.js(sums), "frames 0 to 199: 5.000 ms a frameBloom 4.000 msUI 1.000 ms")
        self.assertAlmostEqual(self.page.js("passtally.view.stack.yAxisRange()[1]"), 1.15 * 7)
        self.page.drag("#stack", 0.7, 0.9)
        self.page.wait(f"{sums}.includes('Bloom 6.000 ms (+50.0%)UI 1.000 ms (+0.00%)')")
        self.assertEqual(self.page.js("passtally.view.stack.xAxisRange()"), self.page.js("passtally.view.frames.xAxisRange()"))
        self.page.key("z")
        self.page.wait(f"{sums}.startsWith('frames 0 to 199: 5.000 ms')")
        self.assertIn("s.jsonl", self.page.js("document.title"))
        self.assertEqual(self.page.js("document.getElementById('subtitle').textContent"), "s.jsonl · 2026-01-02 03:04:05 UTC · --level castle")
        self.assertIn("From frame 100 on 1.8 times slower: 5.00 -> 9.00 ms; Bloom 2.00 -> 6.00 ms, same draws.",
                      self.page.js("document.getElementById('answer').textContent"))

    def test_a_long_run_says_that_points_stand_for_blocks(self):
        lines = [header(), device(), pass_info(A)]
        lines += [frame(i, [one_pass(0, A, 1000)], start_ns=10**7 * i, cpu_ns=10**7 + (10**8 if i == 7001 else i * 7919 % 1000))
                  for i in range(13000)]
        self.open(self.write_log("l.jsonl", lines + [end(13000, 13000)]))
        self.assertIn("median of up to 9 frames, band: p1 to p99", self.page.js("document.querySelector('.overview').textContent"))
        self.assertLess(self.page.js("passtally.view.frames.numRows()"), 1501)
        at = "Array.from({length: passtally.view.frames.numRows()}, (x, i) => passtally.view.frames.getValue(i, 0))"
        value = "Array.from({length: passtally.view.frames.numRows()}, (x, i) => passtally.view.frames.getValue(i, %d))"
        lows, middles, highs = zip(*self.page.js(value % 1))
        self.assertLess(max(middles), 10.1, "the median")
        self.assertEqual(round(max(highs)), 110, "of nine frames p99 is the largest")
        self.assertEqual(round(max(peak[1] for peak in self.page.js(value % 3))), 110, "the strip has the slowest")
        self.page.js("void passtally.view.frames.updateOptions({dateWindow: [6990, 7010]})")
        self.page.wait(f"(() => {{ const all = {at}; return [6995, 6996, 6997, 6998, 7001, 7005].every(v => all.includes(v)); }})()")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""WCAG 2.2 AA of the page of report --html, as Chromium computes it: contrast of every text and graphic in light and dark,
the keyboard alone, the size of targets, and what a screen reader is given."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import chromium  # noqa: E402
from cli_case import A, B, C, CliCase, device, end, frame, header, one_pass, pass_info  # noqa: E402

if not chromium.find():
    print("no chromium here: skipped")
    sys.exit(77)

# Texts and graphics whose contrast is too low, as "what: ratio". A text is compared with its background, a part of
# a chart (and the border of a control) with what is around it; its fill or its border will do.
CONTRAST = """(() => {
const color = (text) => { const v = text.match(/[\\d.]+/g).map(Number); return [v[0], v[1], v[2], v[3] ?? 1]; };
const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const behind = (e) => { const layers = [];
	for (; e; e = e.parentElement) { const c = color(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] === 1) break; }
	return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]); };
const seen = (e) => e.checkVisibility({opacityProperty: true, visibilityProperty: true}) && e.getBoundingClientRect().width > 1;
const bad = [], all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let texts = 0, graphics = 0;
while (all.nextNode()) {
	const e = all.currentNode.parentElement;
	if (!all.currentNode.data.trim() || !seen(e) || e.closest("title, option, script, style")) continue;
	const s = getComputedStyle(e), under = behind(e), size = parseFloat(s.fontSize);
	const least = size >= 24 || (size >= 18.66 && Number(s.fontWeight) >= 700) ? 3 : 4.5;
	const got = ratio(over(color(e.closest("svg") ? s.fill : s.color), under), under);
	texts++;
	if (got < least) bad.push(`${all.currentNode.data.trim().slice(0, 30)}: ${got.toFixed(2)}`);
}
for (const e of document.querySelectorAll(".bar, .swatch, .share, .tick, button, input, select")) {
	const s = getComputedStyle(e), under = behind(e.parentElement);
	const edges = [s.backgroundColor, ...(s.borderStyle === "none" ? [] : [s.borderTopColor]),
		...(s.boxShadow === "none" ? [] : [s.boxShadow.match(/rgba?\\([^)]*\\)/)[0]])];
	if (!seen(e) || (e.matches("button, input, select") && s.borderStyle === "none" && !e.matches(".bar"))) continue;
	graphics++;
	const got = Math.max(...edges.map((c) => ratio(over(color(c), under), under)));
	if (got < 3) bad.push(`${e.className || e.id || e.tagName}: ${got.toFixed(2)}`);
}
for (const name of ["cpu", "gpu", "mark", "pick", "edge", "link"])
	for (const under of ["back", "card"]) {
		const [a, b] = [name, under].map((v) => { const e = document.body.appendChild(document.createElement("i"));
			e.style.color = `var(--${v})`; const c = color(getComputedStyle(e).color); e.remove(); return c; });
		if (ratio(a, b) < 3) bad.push(`${name} on ${under}: ${ratio(a, b).toFixed(2)}`);
	}
return {bad, texts, graphics};
})()"""

# Controls whose name lacks the words that are seen on them.
LABELS = """[...document.querySelectorAll('[aria-label]')].filter((e) => e.matches('button, a, input, summary')).map((e) => [
	e.textContent.toLowerCase().match(/[a-z0-9.]+/g) || [], e.getAttribute('aria-label').toLowerCase()])
	.filter(([seen, name]) => !(name.match(/[a-z0-9.]+/g) || []).join(' ').includes(seen.join(' ')))"""

UNFOLD = "document.querySelectorAll('details').forEach((e) => e.open = true); document.getElementById('key-list').hidden = false"
REACH = "a[href], button, input, select, summary, [tabindex='0']"
# A bar may be as narrow as its time requires: the row of its pass has the same effect and is as high as the rule
# requires.
SMALL = f"""[...document.querySelectorAll("{REACH}")].filter((e) => e.checkVisibility() && !e.matches(".bar, .skip"))
.map((e) => [e.id || e.className || e.textContent, e.getBoundingClientRect()])
.filter(([, r]) => r.width < 24 || r.height < 24).map(([n, r]) => `${{n}}: ${{r.width}} x ${{r.height}}`)"""
FOCUSED = """(() => { const e = document.activeElement; if (e === document.body) return null;
const s = getComputedStyle(e); e.dataset.reached = "1";
return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2; })()"""


def log(slow=1):
    ids = [pass_info(A, "Bloom/Down 0"), pass_info(B, "Bloom/Up 0"), pass_info(C)]
    lines = [header(options={"period": "2ms"}), device(), *ids]
    for i in range(60):
        start = 10**9 + i * 16 * 10**6
        lines.append(frame(i, [one_pass(0, A, 10**6 + i, "Bloom/Down 0", gpu_start_ns=start, queue="0.0", counters={"samples_passed": 7 * i},
                                        **({"picture": 1} if i == 20 else {})),
                               one_pass(1, B, int(3 * 10**6 * slow) + i, "Bloom/Up 0", gpu_start_ns=start + 10**6, queue="0.0"),
                               one_pass(2, C, None, flags=["disjoint"])],
                           start_ns=start, cpu_ns=16 * 10**6 + (40 * 10**6 if i == 40 else i)))
    lines.append({"type": "note", "level": "warning", "message": "something to say", "source": "session"})
    return [*lines, end(60, 180)]


class Access(CliCase):
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
        (self.folder / "a-1-color0.png").write_bytes(chromium.PNG)
        logs = [self.write_log("a.jsonl", log()), self.write_log("b.jsonl", log(1.5))]
        self.ok("report", "--html", "one.html", logs[0])
        self.ok("report", "--html", "two.html", *logs)
        self.page = self.browser.page()
        self.page.size(1400, 900)

    def views(self):
        """Each view of the page, with everything that is folded unfolded."""
        for name, open_pass in (("one.html", False), ("one.html", True), ("two.html", False), ("two.html", True)):
            self.page.open((self.folder / name).as_uri())
            self.page.wait("document.querySelector('#passes tbody tr')")
            if open_pass:
                self.page.click("#passes tbody td")
                self.page.wait("document.querySelector('#series svg')")
            self.page.js(UNFOLD)
            yield f"{name}, {'a pass' if open_pass else 'all'}"

    def test_contrast(self):
        self.page.prefers("light")
        for name in self.views():
            for scheme in ("light", "dark"):
                drawn = self.page.js("passtally.renders")
                self.page.prefers(scheme) # the page follows while it is open
                self.page.wait(f"document.documentElement.dataset.theme === '{scheme}' && passtally.renders >= {drawn + (scheme == 'dark')}")
                for width, height in ((1400, 900), (390, 844)):
                    self.page.size(width, height)
                    self.page.js(UNFOLD)
                    found = self.page.js(CONTRAST)
                    self.assertEqual(found["bad"], [], (name, scheme, width))
                    self.assertGreater(min(found["texts"], found["graphics"]), 5)
                    self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), width)
            self.page.prefers("light")

    def test_keyboard_alone(self):
        """Tab reaches every control, shows where it is, and is never trapped; targets are 24 pixels high and
        wide."""
        for name in self.views():
            self.assertEqual(self.page.js(SMALL), [], name)
            self.page.js("document.activeElement.blur(); scrollTo(0, 0)")
            n = self.page.js(f"[...document.querySelectorAll(\"{REACH}\")].filter((e) => e.checkVisibility()).length")
            shown = []
            for _ in range(n + 5):
                self.page.key("Tab")
                shown.append(self.page.js(FOCUSED))
            self.assertNotIn(False, shown, name)
            left = f"[...document.querySelectorAll(\"{REACH}\")].filter((e) => e.checkVisibility() && !e.dataset.reached).map((e) => e.outerHTML)"
            self.assertEqual(self.page.js(left), [])

    def test_a_row_opens_with_enter_and_space(self):
        for key in ("Enter", " "):
            self.page.open((self.folder / "one.html").as_uri())
            self.page.wait("document.querySelector('#passes tbody tr')")
            self.page.js("document.querySelector('#passes tbody button').focus()")
            self.page.key(key)
            self.page.wait("document.querySelector('#values') && document.activeElement.id === 'heading'")

    def test_what_a_screen_reader_gets(self):
        """Chromium's tree: every control and everything that can be looked at has a name, tables have headers,
        changes are announced."""
        self.page.call("Accessibility.enable")
        for name in self.views():
            nodes = [n for n in self.page.call("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
            by = {}
            for n in nodes:
                by.setdefault(n["role"]["value"], []).append(n)
            for role in ("button", "textbox", "searchbox", "combobox", "checkbox", "link", "image", "img", "table", "columnheader", "group"):
                unnamed = [n for n in by.get(role, []) if not n.get("name", {}).get("value", "").strip()]
                self.assertEqual([(n["role"]["value"], n.get("description")) for n in unnamed if role != "group"], [])
            for role in ("banner", "navigation", "main", "contentinfo", "table", "columnheader", "heading"):
                self.assertIn(role, by)
            levels = [p["value"]["value"] for n in by["heading"] for p in n["properties"] if p["name"] == "level"]
            self.assertEqual(levels[0], 1)
            self.assertEqual([pair for pair in zip(levels, levels[1:]) if pair[1] > pair[0] + 1], [])
            live = [n for n in nodes if any(p["name"] == "live" and p["value"]["value"] == "polite" for p in n.get("properties", []))]
            self.assertTrue(live or self.page.js("passtally.state.pass >= 0"), name)


    def test_names_hold_what_is_seen(self):
        """WCAG 2.5.3: who speaks what is on a button means that button."""
        for name in self.views():
            self.page.js(UNFOLD)
            self.assertEqual(self.page.js(LABELS), [], name)


if __name__ == "__main__":
    unittest.main()

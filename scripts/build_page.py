#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Put the page of `passtally report --html` together from its parts.

    scripts/build_page.py OUTPUT PAGE CSS CHART_CSS CHART_JS LICENCE JS...

PAGE names the place of each part: {{css}}, {{chart_css}}, {{chart_js}}, {{licence}}, {{js}}. Same input, same
bytes. Fails where a part would end the element that it is put into, or loads something from elsewhere.
"""

import html
import pathlib
import re
import sys


def script(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    text = re.sub(r"^//# sourceMappingURL=.*$", "", text, flags=re.MULTILINE)
    if re.search(r"</script|<!--", text, re.IGNORECASE):
        sys.exit(f"{path}: would end the element that it is put into")
    return text


def style(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    text = re.sub(r"/\*# sourceMappingURL=.*?\*/", "", text)
    if re.search(r"</style|@import|url\(", text, re.IGNORECASE):
        sys.exit(f"{path}: ends its element or fetches something")
    return text


def main():
    if len(sys.argv) < 8:
        sys.exit(__doc__)
    output, page, css, chart_css, chart_js, licence, *own = sys.argv[1:]
    parts = {
        "css": style(css),
        "chart_css": style(chart_css),
        "chart_js": script(chart_js),
        "licence": html.escape(pathlib.Path(licence).read_text(encoding="utf-8")),
        "js": "\n".join(script(path) for path in own),
    }
    text = pathlib.Path(page).read_text(encoding="utf-8")
    text = re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m.group(1)], text)
    pathlib.Path(output).write_text(text, encoding="utf-8")


main()

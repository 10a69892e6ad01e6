#!/usr/bin/env python3
"""Opens a report in headless Chromium and prints what a reader would find, as `name value` lines.

    browser.py REPORT.html [DIRECTORY]

The page is opened from disk at the width of a desktop and of a phone, light and dark; the axis switch, the
legend, the choice of a column and the pointer are used as a reader would. Screenshots go to the directory,
if one is given. Chromium is driven by chromedriver over HTTP on the loopback interface.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

LIMIT = 600  # seconds for any one answer; only a browser that hangs takes so long


class Browser:
    """A session of chromedriver."""

    def __init__(self, profile):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self.base = f"http://127.0.0.1:{found.group(1)}"
                break
        else:
            raise SystemExit("browser.py: chromedriver did not start")
        options = {
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                f"--user-data-dir={profile}",
            ],
            "perfLoggingPrefs": {"enableNetwork": True},
        }
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}})
        self.session = "/session/" + answer["sessionId"]

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            self.base + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        # The machine's proxy settings are not for the loopback interface.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=LIMIT) as answer:
            return json.load(answer)["value"]

    def devtools(self, command, **parameters):
        return self.ask("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script):
        return self.ask("POST", self.session + "/execute/sync", {"script": script, "args": []})

    def open(self, address):
        self.ask("POST", self.session + "/url", {"url": address})

    def log(self, kind):
        return self.ask("POST", self.session + "/se/log", {"type": kind})

    def point(self, x, y):
        self.ask("POST", self.session + "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [{"type": "pointerMove", "duration": 0, "x": x, "y": y}],
        }]})

    def look(self, width, height, scheme):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 600)
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shoot(self, path):
        shot = self.devtools("Page.captureScreenshot", format="png")
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.ask("DELETE", self.session)
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait(timeout=LIMIT)


CURVES = "return document.querySelectorAll('.chart .curve').length"
LABEL = "return document.querySelector('.chart .x-label')?.textContent ?? 'none'"
LINES = "return Array.from(document.querySelectorAll('.chart .curve')).map(c => c.getAttribute('d')).join()"


def requests(browser, address):
    """Returns the addresses that were requested, except the page itself and its embedded data."""
    asked = set()
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if url.split("#")[0] != address and not url.startswith("data:"):
                asked.add(url)
    return asked


def examine(browser, address, shots):
    def shoot(name):
        if shots:
            browser.shoot(os.path.join(shots, name + ".png"))

    def tell(name, value):
        print(name, str(value).replace("\n", " "))

    # Ignore the requests of the browser's own first page.
    browser.open("about:blank")
    browser.log("performance")
    browser.look(1200, 1500, "light")
    browser.open(address)
    tell("ready", browser.run("return document.documentElement.dataset.ready || 'no'"))
    tell("title", browser.run("return document.title"))
    tell("sections", browser.run("return document.querySelectorAll('section.traces').length"))
    tell("charts", browser.run("return document.querySelectorAll('.chart > svg').length"))
    tell("curves", browser.run(CURVES))
    tell("bands", browser.run("return document.querySelectorAll('.chart .band').length"))
    tell("legend", browser.run("return document.querySelectorAll('.legend button').length"))
    tell("network", browser.run("return document.querySelectorAll('.network circle').length"))
    tell("claims", browser.run("return document.querySelectorAll('.claims-of').length"))
    tell("networks", browser.run("return document.querySelectorAll('.network').length"))
    # The first and second element of the page.
    tell("order", browser.run(
        "return [...new Set(Array.from(document.querySelectorAll('.chart, .claims')).map(e => e.classList."
        "contains('chart') ? 'chart' : e.classList[0]))].join(' ')"))
    tell("unfolded", browser.run("return document.querySelectorAll('details[open]').length"))
    tell("claims-opened", browser.run(
        "const d = document.querySelector('details.claims-of'); if (!d) return 'none'; const t = d.querySelector('table');"
        "const before = t.checkVisibility(); d.querySelector('summary').click(); const after = t.checkVisibility();"
        "d.open = false; return !before && after"))
    # Without the sign before it.
    tell("verdicts", browser.run(
        "return Array.from(document.querySelectorAll('.claims-of > summary > b')).map(v => "
        "v.textContent.replace(/^\\S\\s/, '')).join(', ')"))
    tell("not-a-number", browser.run(
        "return Array.from(document.querySelectorAll('svg *')).filter(e => "
        "Array.from(e.attributes).some(a => /NaN|Infinity|undefined/.test(a.value))).length"))
    tell("costs", browser.run(
        "return Array.from(document.querySelectorAll('.cost')).filter(c => !c.hidden).map(c => c.dataset.x).join()"))
    tell("axis", browser.run(LABEL))
    # Heights of the first curve's points and of the lines across, which are at the numbers.
    tell("heights", browser.run(
        "return Array.from((document.querySelector('.chart .curve')?.getAttribute('d') ?? '')"
        ".matchAll(/[ML][0-9.-]+ ([0-9.-]+)/g)).map(m => m[1]).join(' ')"))
    tell("lines", browser.run(
        "return Array.from(document.querySelectorAll('.chart > svg')[0]?.querySelectorAll('.grid') ?? [])"
        ".filter(l => l.getAttribute('y1') === l.getAttribute('y2')).map(l => l.getAttribute('y1')).join(' ')"))
    shoot("desk-light")

    # The axis switch, by clicking: labels, curves and the table of costs change.
    before = browser.run(LINES)
    browser.run("document.querySelector('.axes button[data-x=rounds]')?.click()")
    tell("axis-after-click", browser.run(LABEL))
    tell("curves-moved", before != browser.run(LINES))
    tell("costs-after-click", browser.run(
        "return Array.from(document.querySelectorAll('.cost')).filter(c => !c.hidden).map(c => c.dataset.x).join()"))
    tell("address", browser.run("return location.hash"))

    # A legend's button hides its curve in both charts and brings it back.
    browser.run("document.querySelector('.legend button').click()")
    tell("curves-hidden", browser.run(CURVES))
    browser.run("document.querySelector('.legend button').click()")
    tell("curves-back", browser.run(CURVES))

    # Another column.
    tell("column", browser.run(
        "const s = document.querySelector('.chart select'); s.value = s.options[s.options.length - 1].value;"
        "s.dispatchEvent(new Event('change')); return s.value"))
    tell("curves-of-column", browser.run(CURVES))
    browser.run("const s = document.querySelector('.chart select');"
                "s.value = Array.from(s.options).map(o => o.value).includes('metric') ? 'metric' : s.options[0].value;"
                "s.dispatchEvent(new Event('change'))")

    # A steep start is cut off until the reader chooses to see all.
    tell("zoom", browser.run(
        "const charts = Array.from(document.querySelectorAll('.chart'));"
        "const chart = charts.find(c => !c.querySelector('.zoom').hidden); if (!chart) return 'none';"
        "const lines = () => chart.querySelector('.curve').getAttribute('d'); const before = lines();"
        "const said = chart.querySelector('.zoom').textContent; chart.querySelector('.zoom').click();"
        "const after = lines(); chart.querySelector('.zoom').click();"
        "return said + ', ' + (before !== after) + ', ' + (before === lines())"))

    # The pointer.
    browser.run("document.querySelector('.chart').scrollIntoView({block: 'center'})")
    box = browser.run("const b = document.querySelector('.chart > svg').getBoundingClientRect();"
                      "return [b.left + b.width / 2, b.top + b.height / 2]")
    browser.point(int(box[0]), int(box[1]))
    tell("tips", browser.run(
        "return Array.from(document.querySelectorAll('.tip')).filter(t => !t.hidden && t.textContent).length"))
    tell("tip", browser.run("return document.querySelector('.tip').innerText"))
    shoot("desk-pointer")

    # A data link contains the rows.
    tell("rows", browser.run(
        "const h = document.querySelector('a.data').getAttribute('href');"
        "return decodeURIComponent(h.slice(h.indexOf(',') + 1)).split('\\n').filter(l => /^[0-9]/.test(l)).length"))

    browser.look(1200, 1500, "dark")
    tell("dark-ground", browser.run("return getComputedStyle(document.body).backgroundColor"))
    shoot("desk-dark")
    for scheme in ("light", "dark"):
        browser.look(390, 844, scheme)
        browser.open(address)
        while browser.run("return innerWidth") != 390:
            time.sleep(0.05)
        tell(f"phone-{scheme}-overflow", browser.run(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"))
        shoot(f"phone-{scheme}")
    browser.look(390, 4000, "light")
    shoot("phone-long")

    problems = [entry for entry in browser.log("browser")]
    tell("console", len(problems))
    for entry in problems:
        tell("console-said", entry["message"])
    asked = requests(browser, address)
    tell("requests", len(asked))
    for url in sorted(asked):
        tell("asked-for", url)


def main():
    page = "file://" + urllib.request.pathname2url(os.path.realpath(sys.argv[1]))
    shots = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="saddle-browser-") as profile:
        browser = Browser(profile)
        try:
            examine(browser, page, shots)
        finally:
            browser.close()


if __name__ == "__main__":
    main()

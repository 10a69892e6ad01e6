#!/usr/bin/env python3
"""Opens reports in headless Chromium and writes what a reader would find to REPORT.html.seen, as `name value` lines.

    browser.py [--shots DIRECTORY] REPORT.html... [--brief REPORT.html...]

A page is opened from disk on a desk's and a phone's screen, light and dark, and printed. Switches, zoom, legend,
pointer, finger and keyboard are used as a reader would; lines of one screen begin with desk- or phone-. Screenshots
go to the directory, if one is given. On pages after --brief, pointer, finger and keyboard, which take most of the
time, are not used. Chromium is driven by chromedriver over HTTP on the loopback interface.
"""
import argparse
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
SCREENS = {"desk": (1366, 900), "phone": (390, 844)}
PAPER = (718, 1000)  # A4 without its margins
MOST_TABS = 400
SEEN = sys.stdout  # where tell() writes


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

    def act(self, device, *actions, kind="mouse"):
        body = {"type": device, "id": kind, "actions": list(actions)}
        if device == "pointer":
            body["parameters"] = {"pointerType": kind}
        self.ask("POST", self.session + "/actions", {"actions": [body]})

    def press(self, key):
        self.act("key", {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}, kind="keyboard")

    def look(self, width, height, scheme, media="screen"):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 600)
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=width < 600)
        self.devtools("Emulation.setEmulatedMedia", media=media,
                      features=[{"name": "prefers-color-scheme", "value": scheme}])
        # A page that is too wide for a phone never gets there, and is found out later.
        for _ in range(600):
            if self.run("return innerWidth") == width:
                break
            time.sleep(0.05)

    def shoot(self, path, whole=False):
        """Takes a screenshot of the screen, or of the whole page."""
        more = {}
        if whole:
            width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
            more = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}
        shot = self.devtools("Page.captureScreenshot", format="png", **more)
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
COSTS = "return Array.from(document.querySelectorAll('.cost')).filter(c => !c.hidden).map(c => c.dataset.x).join()"
NUMBERS = "return Array.from(document.querySelectorAll('.chart > svg > g > text')).map(t => t.textContent).join(' ')"
TIPS = "return Array.from(document.querySelectorAll('.tip')).filter(t => !t.hidden && t.textContent).length"
PLACE = "return document.querySelector('.tip').firstChild.textContent"
OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"

# Texts whose contrast with what is behind them is below 4.5, as `RATIO TEXT`. Colours that let something through are
# mixed with it; controls that are out of use are left out.
CONTRAST = r"""
const rgba = (text) => {
    const parts = text.match(/-?[\d.]+(e-?\d+)?/g).map(Number);
    const unit = text.startsWith('color(') ? 255 : 1;
    return [parts[0] * unit, parts[1] * unit, parts[2] * unit, parts[3] ?? 1];
};
const over = (top, below) => [0, 1, 2].map((k) => top[3] * top[k] + (1 - top[3]) * below[k]).concat(1);
const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
    if (element === null) return [255, 255, 255, 1];
    const circle = element.closest('.network') && element.previousElementSibling;
    if (circle) return rgba(getComputedStyle(circle).fill);
    return over(rgba(getComputedStyle(element).backgroundColor), behind(element.parentElement));
};
document.querySelectorAll('details').forEach((details) => { details.open = true; });
const found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let texts = 0;
while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const text = walk.currentNode.textContent.trim();
    if (text === '' || element.closest('script, style, title, option, :disabled, [hidden], noscript')) continue;
    const style = getComputedStyle(element);
    const front = rgba(element instanceof SVGElement ? style.fill : style.color);
    for (let e = element; e !== null; e = e.parentElement) front[3] *= Number(getComputedStyle(e).opacity);
    const back = behind(element);
    const [dark, bright] = [light(over(front, back)), light(back)].sort((a, b) => a - b);
    const ratio = (bright + 0.05) / (dark + 0.05);
    texts += 1;
    if (!(ratio >= 4.5)) found.push(ratio.toFixed(2) + ' ' + text.slice(0, 40));
}
document.querySelectorAll('details').forEach((details) => { details.open = false; });
return [texts, [...new Set(found)]];
"""
# What the keyboard must reach.
CONTROLS = """Array.from(document.querySelectorAll('a[href], button, select, summary, [tabindex="0"]'))
    .filter((e) => !e.disabled && e.checkVisibility())"""


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


def tell(name, value):
    print(name, str(value).replace("\n", " "), file=SEEN)


def tell_list(name, values):
    tell(name, len(values))
    for value in values:
        tell(name + "-are", value)


def describe(browser):
    """What is on the page."""
    tell("ready", browser.run("return document.documentElement.dataset.ready || 'no'"))
    tell("title", browser.run("return document.title"))
    tell("sections", browser.run("return document.querySelectorAll('section.traces').length"))
    tell("charts", browser.run("return document.querySelectorAll('.chart > svg').length"))
    tell("shown", browser.run("return Array.from(document.querySelectorAll('.chart select')).map(s => s.value).join()"))
    tell("curves", browser.run(CURVES))
    tell("bands", browser.run("return document.querySelectorAll('.chart .band').length"))
    tell("legend", browser.run("return document.querySelectorAll('.legend button').length"))
    tell("networks", browser.run("return document.querySelectorAll('.network').length"))
    tell("agents", browser.run("return document.querySelectorAll('.network circle').length"))
    tell("shades", browser.run(
        "return new Set(Array.from(document.querySelectorAll('.network circle')).map(c => getComputedStyle(c).fill)).size"))
    tell("distances", browser.run(
        "return Array.from(document.querySelectorAll('.network')[0]?.querySelectorAll('title') ?? [])"
        ".map(t => t.textContent.split(': ')[1]).join(' ')"))
    tell("differing", browser.run(
        "return Array.from(document.querySelectorAll('.differs > th')).map(t => t.textContent).join()"))
    tell("unfolded", browser.run("return document.querySelectorAll('details[open]').length"))
    tell("costs", browser.run(COSTS))
    tell("axis", browser.run(LABEL))
    tell("log-axis", browser.run("return document.querySelector('.axes .scale')?.getAttribute('aria-pressed') ?? 'none'"))
    # In the order in which they are drawn.
    tell("widths", browser.run(
        "return Array.from(document.querySelector('.chart').querySelectorAll('.curve'))"
        ".map(c => c.dataset.label + ' ' + parseFloat(getComputedStyle(c).strokeWidth)).join(', ')"))
    # Heights of the first curve's points and of the lines across, which are at the numbers.
    tell("heights", browser.run(
        "return Array.from((document.querySelector('.chart .curve')?.getAttribute('d') ?? '')"
        ".matchAll(/[ML][0-9.-]+ ([0-9.-]+)/g)).map(m => m[1]).join(' ')"))
    tell("lines", browser.run(
        "return Array.from(document.querySelectorAll('.chart > svg')[0]?.querySelectorAll('.grid') ?? [])"
        ".filter(l => l.getAttribute('y1') === l.getAttribute('y2')).map(l => l.getAttribute('y1')).join(' ')"))
    # Axes two of whose numbers look alike.
    tell("alike", browser.run(
        "return Array.from(document.querySelectorAll('.chart > svg > g')).flatMap(g => ['end', 'middle'].map(a =>"
        "Array.from(g.querySelectorAll(`text[text-anchor=${a}]:not(.x-label)`)).map(t => t.textContent)))"
        ".filter(t => new Set(t).size < t.length).length"))
    # A data link holds the rows.
    tell("rows", browser.run(
        "const h = document.querySelector('a.data').getAttribute('href');"
        "return decodeURIComponent(h.slice(h.indexOf(',') + 1)).split('\\n').filter(l => /^[0-9]/.test(l)).length"))


def use_switches(browser, screen):
    """Axis, scales, legend and columns, by clicking; everything is as before in the end."""
    start = browser.run(LINES)
    numbers = browser.run(NUMBERS)
    click = "document.querySelector('%s')?.click()"
    browser.run(click % ".axes button[data-x=rounds]")
    tell(f"{screen}-axis-after-click", browser.run(LABEL))
    tell(f"{screen}-curves-moved", start != browser.run(LINES))
    tell(f"{screen}-costs-after-click", browser.run(COSTS))
    tell(f"{screen}-address", browser.run("return location.hash"))
    browser.run(click % ".axes button")
    for name, control in (("across", ".axes .scale"), ("up", ".chart .tools button:nth-child(2)")):
        pressed = f"return document.querySelector('{control}').getAttribute('aria-pressed')"
        before = browser.run(pressed)
        browser.run(click % control)
        tell(f"{screen}-scale-{name}", f"{before} {browser.run(pressed)} {numbers != browser.run(NUMBERS)}")
        browser.run(click % control)
        tell(f"{screen}-scale-{name}-back", browser.run(LINES) == start)
    # A legend's button hides its curve in both charts and brings it back.
    browser.run(click % ".legend button")
    tell(f"{screen}-curves-hidden", browser.run(CURVES))
    browser.run(click % ".legend button")
    tell(f"{screen}-curves-back", browser.run(CURVES))
    tell(f"{screen}-column", browser.run(
        "const s = document.querySelector('.chart select'); s.value = s.options[s.options.length - 1].value;"
        "s.dispatchEvent(new Event('change')); return s.value"))
    tell(f"{screen}-curves-of-column", browser.run(CURVES))
    browser.run("const s = document.querySelector('.chart select');"
                "s.value = Array.from(s.options).map(o => o.value).includes('metric') ? 'metric' : s.options[0].value;"
                "s.dispatchEvent(new Event('change'))")


def use_zoom(browser, screen):
    """The buttons of the zoom, and a steep start that is cut off until all is asked for."""
    start = browser.run(LINES)
    tell(f"{screen}-zoom", browser.run(
        "const lines = () => Array.from(document.querySelectorAll('.chart .curve')).map(c => c.getAttribute('d')).join();"
        "const tools = document.querySelectorAll('.chart .tools button'); const [, , outer, inner, reset] = tools;"
        "const start = lines(), off = outer.disabled && reset.disabled; inner.click(); const once = lines();"
        "inner.click(); const twice = lines(); outer.click(); const back = lines() === once; inner.click(); reset.click();"
        "return [off, once !== start, twice !== once, back, lines() === start].join(' ')"))
    tell(f"{screen}-zoom-undone", browser.run(LINES) == start)
    tell(f"{screen}-steep", browser.run(
        "const charts = Array.from(document.querySelectorAll('.chart'));"
        "const button = (c) => c.querySelector('.tools button');"
        "const chart = charts.find(c => !button(c).hidden); if (!chart) return 'none';"
        "const lines = () => chart.querySelector('.curve').getAttribute('d'); const before = lines();"
        "const said = button(chart).textContent; button(chart).click();"
        "const after = lines(); button(chart).click();"
        "return said + ', ' + (before !== after) + ', ' + (before === lines())"))


def plot_box(browser):
    """Left, right and middle height of the first chart, brought into sight."""
    browser.run("document.querySelector('.chart').scrollIntoView({block: 'center'})")
    left, width, top, height = browser.run(
        "const b = document.querySelector('.chart > svg').getBoundingClientRect();"
        "return [b.left, b.width, b.top, b.height]")
    return int(left + 70), int(left + width - 20), int(top + height / 2)


def use_pointer(browser, screen, shoot):
    """Values under the pointer or finger; on the desk a drag that zooms and a double click that undoes it."""
    left, right, height = plot_box(browser)
    middle = (left + right) // 2
    kind = "mouse" if screen == "desk" else "touch"

    def move(x):
        return {"type": "pointerMove", "duration": 0, "x": x, "y": height}

    down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
    if kind == "touch":
        browser.act("pointer", move(middle), down, move(middle + 20), kind=kind)
    else:
        browser.act("pointer", move(middle))
    tell(f"{screen}-tips", browser.run(TIPS))
    tell(f"{screen}-tip", browser.run("return document.querySelector('.tip').innerText"))
    tell(f"{screen}-tip-inside", browser.run(
        "return Array.from(document.querySelectorAll('.tip')).every(t => { const b = t.getBoundingClientRect();"
        "return b.left >= 0 && b.right <= innerWidth; })"))
    shoot("pointer")
    if kind == "touch":
        browser.act("pointer", up, kind=kind)
        return
    start = browser.run(LINES)
    place = browser.run(PLACE)
    browser.act("pointer", move(middle), down, move(middle + 20), move(right), up)
    tell(f"{screen}-drag", browser.run(LINES) != start)
    browser.act("pointer", move(left - 65))  # left of the axis: what the drag began with is there now
    tell(f"{screen}-drag-left", browser.run(PLACE) == place)
    shoot("zoomed")
    browser.act("pointer", move(middle), down, up, down, up)
    tell(f"{screen}-drag-undone", browser.run(LINES) == start)
    browser.act("pointer", {"type": "pointerMove", "duration": 0, "x": 1, "y": 1})
    tell(f"{screen}-tips-left", browser.run(TIPS))


def use_keyboard(browser, screen):
    """Tab reaches every control and shows where it is; a chart takes arrows, plus, minus, 0 and Escape."""
    total = browser.run(f"{CONTROLS}.forEach((e, k) => {{ e.dataset.control = k; }}); return {CONTROLS}.length")
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    reached, dim = set(), set()
    for _ in range(min(total + 5, MOST_TABS)):
        browser.press("\ue004")
        at, seen = browser.run(
            "const e = document.activeElement, s = getComputedStyle(e);"
            "return [e.dataset.control ?? '', s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0]")
        reached.add(at)
        if at != "" and not seen:
            dim.add(at)
    left = [k for k in range(total) if str(k) not in reached]
    describe_controls = ("return %s.map(k => document.querySelector(`[data-control=\"${k}\"]`)).map(e => e.tagName + ' ' +"
                         "e.textContent.slice(0, 30))")
    tell(f"{screen}-controls", total)
    tell_list(f"{screen}-unreached", browser.run(describe_controls % json.dumps(left)))
    tell_list(f"{screen}-unseen", browser.run(describe_controls % json.dumps(sorted(dim))))
    browser.run("document.querySelector('.chart > svg').focus()")
    start = browser.run(LINES)
    browser.press("\ue014")
    tell(f"{screen}-key-tips", browser.run(TIPS))
    first = browser.run("return document.querySelector('.tip').innerText")
    browser.press("\ue012")
    tell(f"{screen}-key-moves", first != browser.run("return document.querySelector('.tip').innerText"))
    browser.press("+")
    near = browser.run(LINES)
    browser.press("+")
    browser.press("-")
    tell(f"{screen}-key-zoom", f"{near != start} {near == browser.run(LINES)}")
    for _ in range(40):  # beyond the end of what is shown
        browser.press("\ue014")
    tell(f"{screen}-key-pan", near != browser.run(LINES))
    browser.press("0")
    tell(f"{screen}-key-reset", browser.run(LINES) == start)
    browser.press("\ue00c")
    tell(f"{screen}-key-escape", browser.run(TIPS))


def check_names(browser, screen):
    """Controls, pictures and regions that a screen reader could not name."""
    browser.devtools("Accessibility.enable")
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "combobox", "link", "img", "image", "region", "group", "navigation", "DisclosureTriangle")
    kept = [n for n in nodes if not n.get("ignored") and n.get("role", {}).get("value") in roles]
    # The group of a details element is named by its summary.
    nameless = [n["role"]["value"] for n in kept if not n.get("name", {}).get("value")
                and n["role"]["value"] not in ("group",)]
    tell(f"{screen}-named", len(kept))
    tell_list(f"{screen}-nameless", nameless)


def check_contrast(browser, screen, scheme):
    texts, poor = browser.run(CONTRAST)
    tell(f"{screen}-{scheme}-texts", texts)
    tell_list(f"{screen}-{scheme}-poor", poor)


def examine(browser, address, shots, brief):
    # What the browser's own first page asked for is none of the report's.
    browser.open("about:blank")
    browser.log("performance")
    for screen, size in SCREENS.items():
        def shoot(name, whole=False):
            if shots:
                browser.shoot(os.path.join(shots, f"{screen}-{name}.png"), whole)

        browser.look(*size, "light")
        browser.open(address)
        if screen == "desk":
            describe(browser)
        tell(f"{screen}-overflow", browser.run(OVERFLOW))
        shoot("light")
        shoot("light-whole", True)
        use_switches(browser, screen)
        use_zoom(browser, screen)
        if not brief:
            use_pointer(browser, screen, shoot)
            use_keyboard(browser, screen)
        tell(f"{screen}-not-a-number", browser.run(
            "return Array.from(document.querySelectorAll('svg *')).filter(e => "
            "Array.from(e.attributes).some(a => /NaN|Infinity|undefined/.test(a.value))).length"))
        check_names(browser, screen)
        check_contrast(browser, screen, "light")
        browser.look(*size, "dark")
        tell(f"{screen}-dark-ground", browser.run("return getComputedStyle(document.body).backgroundColor"))
        check_contrast(browser, screen, "dark")
        tell(f"{screen}-dark-overflow", browser.run(OVERFLOW))
        shoot("dark-whole", True)
    browser.look(*PAPER, "dark", "print")
    folds = "return document.querySelectorAll('details:not([open])').length"
    browser.run("dispatchEvent(new Event('beforeprint'))")
    tell("paper-folded", browser.run(folds))
    tell("paper-overflow", browser.run(OVERFLOW))
    tell("paper-ground", browser.run("return getComputedStyle(document.body).backgroundColor"))
    tell("paper-controls", browser.run(
        "return Array.from(document.querySelectorAll('.axes, .tools')).filter(e => e.checkVisibility()).length"))
    if shots:
        browser.shoot(os.path.join(shots, "paper.png"), True)
    browser.run("dispatchEvent(new Event('afterprint'))")
    tell("folded-again", browser.run(folds))
    tell_list("console", [entry["message"] for entry in browser.log("browser")])
    tell_list("requests", sorted(requests(browser, address)))


def main():
    global SEEN
    parser = argparse.ArgumentParser()
    parser.add_argument("--shots")
    parser.add_argument("--brief", nargs="+", default=[])
    parser.add_argument("pages", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="saddle-browser-") as profile:
        browser = Browser(profile)
        try:
            for page in given.pages + given.brief:
                address = "file://" + urllib.request.pathname2url(os.path.realpath(page))
                with open(page + ".seen", "w", encoding="utf-8") as SEEN:
                    examine(browser, address, given.shots, page in given.brief)
        finally:
            browser.close()


if __name__ == "__main__":
    main()

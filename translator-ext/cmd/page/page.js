// What `stapwatch metrics --listen' shows at /: it asks for /metrics, /histograms and
// /ppa each second.  Names are a script's and a program's own, so they become text and
// nothing else.
"use strict";

const SECONDS = 120;		// that a heat map shows
const LEFT = 52, BELOW = 16, ABOVE = 7;	// pixels of its axes
const $ = id => document.getElementById(id);
const hists = new Map();	// by name
const counters = new Map();
let paused = false, filter = "", order = { key: "name", up: true };
let last_ppa = null, hidden = 0;

function element(name, text, kind) {
	const e = document.createElement(name);

	if (text !== undefined)
		e.textContent = text;
	if (kind)
		e.className = kind;
	return e;
}

// Counts are BigInts, as they have 64 bits and a Number has 53.
const shown = n => typeof n === "bigint" ? n.toLocaleString("en") :
	Number.isFinite(n) ? n.toLocaleString("en",
	{ maximumFractionDigits: Math.abs(n) < 100 ? 1 : 0 }) : "";

// Of a value at an axis.
function short(n) {
	let unit = 0;

	for (; n >= 10000 || (unit && n >= 1000); unit++)
		n /= 1000;
	return unit ? n.toPrecision(3) + "kMGTPE"[unit - 1] : String(n);
}

// Whether the filter shows a name; it counts those that it does not.
function is_wanted(name) {
	const is = name.includes(filter);

	hidden += !is;
	return is;
}

// ---- the text of /metrics: a line ends at \n, and all else can be in a label

function labels_of(text) {
	const all = [];

	for (const [, name, value] of
	     (text || "").matchAll(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/gs))
		all.push([name, value]);
	return all;
}

// What a label's value says.  In a name it stays as it is: no two are alike there.
const said_by = value => value.replace(/\\(.)/gs,
	(whole, c) => c === "n" ? "\n" : c);

// Counters by name, and maps.
function parse(text) {
	const got = { counters: new Map(), maps: [] };
	const kinds = new Map();

	for (const line of text.split("\n")) {
		const type = line.match(/^# TYPE (\S+) (\S+)$/);
		const m = line.match(/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/s);

		if (type)
			kinds.set(type[1], type[2]);
		if (!m || line[0] === "#")
			continue;
		const labels = labels_of(m[2]);

		if (m[1] === "stapwatch_map_up")
			got.maps.push([labels[0] ? said_by(labels[0][1]) : "",
				m[3] === "1"]);
		else if (kinds.get(m[1]) === "counter")
			got.counters.set(m[1].replace(/_total$/, "") +
				(labels.length ? "{" + labels.map(l => l[0] +
				"=\"" + l[1] + "\"").join(",") + "}" : ""),
				BigInt(m[3]));
	}
	return got;
}

// ---- histograms

// What /histograms says, with whole numbers as BigInts.  A browser that does not know
// how a number was written rounds those above 2^53.
const parse_hists = text => JSON.parse(text, (key, value, written) =>
	typeof value === "number" ? BigInt(written?.source ?? value) : value);

// What came between two looks; null where the histogram is another one.
function difference(before, now, seconds) {
	const old = new Map(before.buckets.map(([low, , n]) => [low, n]));
	const negative = Number(now.negative - before.negative);
	const cells = [];
	let same = negative >= 0;

	for (const [low, high, n] of now.buckets) {
		const d = Number(n - (old.get(low) ?? 0n));

		old.delete(low);
		same &&= d >= 0;
		if (d)
			cells.push([low, high, d]);
	}
	return same && !old.size ? { seconds, negative, cells, max: now.max } : null;
}

const total = column => column.cells.reduce((sum, cell) => sum + cell[2], 0);

// As stapwatch_hist_quantile(): the middle of the bucket of that rank, and no more than
// the highest value.  Undefined where there is no value.
function percentile(column, percent) {
	const rank = Math.ceil(total(column) * percent / 100);
	let seen = 0;
	const found = column.cells.find(cell => (seen += cell[2]) >= rank);

	if (!found)
		return undefined;
	const middle = found[0] + (found[1] - found[0]) / 2n;
	return column.max !== null && middle > column.max ? column.max : middle;
}

const told_values = (n, median, p99, negative) => shown(n) +
	(Number(n) === 1 ? " value" : " values") + (n ? "; median " + shown(median) + ", 99th percentile " + shown(p99) : "") +
	(negative ? "; and " + shown(negative) + " below 0, which are in no percentile" :
	"");

function told(h, k) {
	const c = h.columns[k], ago = h.columns.length - 1 - k;

	return (ago ? ago + " s earlier: " : "last second: ") +
		(c.seconds > 1 ? "not seen; in these " + c.seconds + " seconds " : "") +
		told_values(total(c), percentile(c, 50), percentile(c, 99), c.negative);
}

function new_hist(name) {
	const h = { name, columns: [], now: null, at: null };
	const figure = element("figure");

	h.figure = figure;
	h.canvas = element("canvas");
	h.canvas.tabIndex = 0;
	h.canvas.setAttribute("role", "img");
	h.text = element("p", "", "told");
	h.all = element("p", "", "all");
	// read out when the user asks, not each second
	h.said = element("p");
	h.said.setAttribute("aria-live", "polite");
	figure.append(element("figcaption", name), h.canvas, h.text, h.all, h.said);
	h.canvas.addEventListener("keydown", event => {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];

		if (!step || !h.columns.length)
			return;
		event.preventDefault();
		const end = h.columns.length - 1;
		h.at = Math.max(0, Math.min(end, (h.at ?? end) + step));
		h.said.textContent = told(h, h.at);
		draw_hist(h);
	});
	h.canvas.addEventListener("blur", () => {
		h.at = null;
		h.said.textContent = "";
		draw_hist(h);
	});
	return h;
}

// What came in seconds in which nobody looked is in each of their columns: it is not
// known in which of them it came.
function take_hist(now, seconds) {
	let h = hists.get(now.name);

	if (!h) {
		h = new_hist(now.name);
		hists.set(now.name, h);
		$("hists").append(h.figure);
	}
	const c = h.now ? difference(h.now, now, seconds) : null;
	// else the script has begun anew
	const all = c ? h.columns.concat(Array(Math.min(seconds, SECONDS)).fill(c)) : [];
	const gone = Math.max(0, all.length - SECONDS);

	if (h.at !== null)
		h.at = all.length ? Math.max(0, h.at - gone) : null;
	h.columns = all.slice(gone);
	h.now = now;
}

// ---- heat maps

// Colours are those of the page, for its light and its dark scheme.
function palette() {
	const style = getComputedStyle(document.documentElement);
	const of = name => style.getPropertyValue("--" + name).trim();
	const few = Number(of("few")), many = Number(of("many"));

	return {
		ink: of("ink"), paper: of("paper"),
		// a part from 0 to 1 of the most that a cell has
		cell: part => `hsl(212 60% ${few + (many - few) * part}%)`,
		// by their dashes, too, and not by colour alone
		median: { percent: 50, color: of("ink"), dash: [] },
		p99: { percent: 99, color: of("p99"), dash: [6, 4] },
	};
}

// A canvas of that size, in as many dots as the screen has.
function begin_drawing(canvas, width, height) {
	const dots = window.devicePixelRatio || 1, g = canvas.getContext("2d");

	canvas.width = width * dots;
	canvas.height = height * dots;
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	g.scale(dots, dots);
	return g;
}

function draw_gap(g, colors, x, y, width, height) {
	g.save();
	g.beginPath();
	g.rect(x, y, width, height);
	g.clip();
	g.globalAlpha = .3;
	g.strokeStyle = colors.ink;
	g.beginPath();
	// the same stripes, wherever it begins
	for (let at = -height - (x + height) % 6; at < width; at += 6) {
		g.moveTo(x + at, y + height);
		g.lineTo(x + at + height, y);
	}
	g.stroke();
	g.restore();
}

// Steps of [x, y, width]; null where there is none.  Its edge keeps it apart from cells.
function draw_line(g, colors, line, steps) {
	for (const [color, width] of [[colors.paper, 5], [line.color, 2]]) {
		let on = false;

		g.strokeStyle = color;
		g.lineWidth = width;
		g.setLineDash(line.dash);
		g.beginPath();
		for (const step of steps) {
			if (step && on)
				g.lineTo(step[0], step[1]);
			else if (step)
				g.moveTo(step[0], step[1]);
			if (step)
				g.lineTo(step[0] + step[2], step[1]);
			on = step;
		}
		g.stroke();
	}
	g.setLineDash([]);
	g.lineWidth = 1;
}

function draw_legend() {
	const colors = palette(), size = [44, 14];
	const cells = begin_drawing($("key-cells"), 88, size[1]);

	for (let i = 0; i < 8; i++) {
		cells.fillStyle = colors.cell((i + 1) / 8);
		cells.fillRect(i * 11, 0, 11, size[1]);
	}
	draw_gap(begin_drawing($("key-gap"), ...size), colors, 0, 0, ...size);
	for (const name of ["median", "p99"])
		draw_line(begin_drawing($("key-" + name), ...size), colors,
			colors[name], [[0, size[1] / 2, size[0]]]);
}

// 0 is of no power of two, and below them all.
const power_of = value => value ? value.toString(2).length : 0;

// Where a value is, in rows from the lower end of the row of 0.
const place_of = value => value ? Math.log2(Number(value) + 1) + 1 : .5;

function draw_axes(g, colors, width, height, low, high, row) {
	const apart = Math.ceil(14 / row), column = width / SECONDS;

	g.strokeStyle = g.fillStyle = colors.ink;
	g.font = "11px system-ui, sans-serif";
	g.globalAlpha = .85;
	g.textAlign = "right";
	g.textBaseline = "middle";
	for (let power = Math.max(0, low - 1); power <= high; power += apart) {
		const y = Math.round((high - power) * row);

		g.fillText(short(2 ** power), LEFT - 6, y);
		g.fillRect(LEFT - 4, y, 4, 1);
	}
	g.textBaseline = "bottom";
	for (let s = 30; s <= SECONDS; s += 30) {
		const x = LEFT + (SECONDS - s) * column;

		g.textAlign = s === SECONDS ? "left" : "center";
		g.fillText("\u2212" + s + " s", x, height + BELOW);
		g.fillRect(Math.round(x), height, 1, 4);
	}
	g.textAlign = "right";
	g.fillText("last second", LEFT + width, height + BELOW);
	g.globalAlpha = .4;
	g.strokeRect(LEFT - .5, .5, width, height - 1);
	g.globalAlpha = 1;
}

function draw_hist(h) {
	const seen = new Map();		// of a column: its values by their powers of two
	let low = Infinity, high = -1, most = 1;

	for (const c of h.columns) {
		if (c.seconds > 1 || seen.has(c))
			continue;
		const powers = new Map();

		for (const [value, , n] of c.cells) {
			const power = power_of(value);
			const sum = (powers.get(power) || 0) + n;

			powers.set(power, sum);
			most = Math.max(most, sum);
			low = Math.min(low, power);
			high = Math.max(high, power);
		}
		seen.set(c, powers);
	}

	const colors = palette();
	const column = Math.max(2, Math.min(8,
		Math.floor(($("hists").clientWidth - LEFT) / SECONDS)));
	const rows = high < 0 ? 1 : high - low + 1;
	const row = Math.max(6, Math.min(18, Math.floor(160 / rows)), 36 / rows);
	const width = SECONDS * column, height = rows * row;
	const g = begin_drawing(h.canvas, LEFT + width + 1, ABOVE + height + BELOW);
	const first = LEFT + (SECONDS - h.columns.length) * column;

	g.translate(0, ABOVE);
	draw_gap(g, colors, LEFT, 0, first - LEFT, height);
	h.columns.forEach((c, k) => {
		const x = first + k * column;

		if (c.seconds > 1)
			draw_gap(g, colors, x, 0, column, height);
		for (const [power, n] of seen.get(c) || []) {
			g.fillStyle = colors.cell(Math.sqrt(n / most));
			g.fillRect(x, (high - power) * row, column, row);
		}
	});
	for (const line of [colors.median, colors.p99])
		draw_line(g, colors, line, h.columns.map((c, k) => {
			const value = percentile(c, line.percent);

			return c.seconds > 1 || value === undefined ? null :
				[first + k * column,
				 (high + 1 - place_of(value)) * row, column];
		}));
	draw_axes(g, colors, width, height, low, high, row);
	if (h.at !== null) {
		g.strokeStyle = colors.ink;
		g.strokeRect(first + h.at * column + .5, .5, column - 1, height - 1);
	}
	const end = h.columns.length - 1, all = h.now;
	h.canvas.setAttribute("aria-label", "Heat map of " + h.name + ", " +
		h.columns.length + " seconds");
	h.text.textContent = end < 0 ? "" : told(h, end);
	h.all.textContent = "since the script began: " +
		told_values(all.count, all.p50, all.p99, all.negative);
}

// ---- tables

function fill(table, rows) {
	const body = $(table).tBodies[0];

	body.replaceChildren(...rows.map(cells => {
		const tr = element("tr");

		tr.append(...cells);
		return tr;
	}));
}

function draw_counters() {
	const rows = [...counters].filter(([name]) => is_wanted(name))
		.map(([name, c]) => ({ name, value: c.value, rate: c.rate }));

	// a rate that is not known yet is below all others
	const key = r => Number.isNaN(r[order.key]) ? -1 : r[order.key];

	rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) *
		(order.up ? 1 : -1));
	fill("counters", rows.map(r => [element("td", r.name, "text"),
		element("td", shown(r.value)), element("td", shown(r.rate))]));
	for (const button of document.querySelectorAll("[data-key]"))
		button.parentElement.setAttribute("aria-sort",
			button.dataset.key !== order.key ? "none" :
			order.up ? "ascending" : "descending");
}

function draw_ppa(ppa) {
	const parts = ["user", "system", "interrupt", "softirq", "idle", "not_accounted"];
	const percent = (n, of) => of ? (100 * n / of).toFixed(1) : "";

	fill("cpus", ppa.cpus.map(cpu => {
		const bar = element("div", undefined, "bar"), td = element("td");

		bar.setAttribute("aria-hidden", "true");
		for (const part of parts) {
			const i = element("i", undefined, part);

			i.title = part.replace("_", " ");
			i.style.width = percent(cpu.parts[part], cpu.sum_ns) + "%";
			bar.append(i);
		}
		td.append(bar);
		return [element("td", cpu.cpu), ...parts.map(part =>
			element("td", percent(cpu.parts[part], cpu.sum_ns))), td];
	}));
	for (const e of document.querySelectorAll(".interval"))
		e.textContent = shown(ppa.seconds) + " s";
	fill("threads", ppa.threads.filter(t => is_wanted(t.comm)).map(t => {
		const of = ppa.seconds * 1e6;
		const off = Object.entries(t.parts).filter(([name]) => !parts.includes(name) &&
			name !== "unknown").sort((a, b) => b[1] - a[1]);
		const [most, ns] = off[0] ?? ["", 0];

		return [element("td", t.tid), element("td", t.pid),
			element("td", t.comm, "text"),
			element("td", percent(t.user_us, of)),
			element("td", percent(t.system_us, of)),
			element("td", percent(off.reduce((sum, [, n]) => sum + n, 0) / 1e3, of)),
			element("td", !ns ? "" : most === "woken" || most === "preempted" ?
				"a CPU" : most, "text")];
	}));
}

// ---- each second

async function ask(url) {
	const answer = await fetch(url, { cache: "no-store" });

	if (!answer.ok)
		throw new Error(url + ": " + answer.status);
	return answer;
}

// Rates are of the time that has passed, heat maps of whole seconds.
function take(got, seconds, columns) {
	for (const name of counters.keys())
		if (!got.counters.has(name))
			counters.delete(name);
	for (const [name, value] of got.counters) {
		const old = counters.get(name);

		counters.set(name, { value, rate: old && value >= old.value ?
			Number(value - old.value) / seconds : NaN });
	}
	for (const [name, h] of hists)
		if (!got.hists.some(now => now.name === name)) {
			h.figure.remove();
			hists.delete(name);
		}
	for (const now of got.hists)
		take_hist(now, columns);
}

function draw(got, ppa) {
	hidden = 0;
	// what is to be drawn has a width only when it is there
	$("cpus-section").hidden = $("threads-section").hidden = !ppa;
	$("hists-section").hidden = !hists.size;
	$("counters-section").hidden = !counters.size;
	$("maps-section").hidden = !got.maps.length;
	$("none").hidden = ppa || got.maps.length;
	draw_counters();
	draw_legend();
	for (const [name, h] of hists) {
		h.figure.hidden = !is_wanted(name);
		draw_hist(h);
	}
	tell("left-out", Number(got.left_out), " of the histograms do not fit into an answer.");
	$("maps").replaceChildren(...got.maps.map(([path, up]) =>
		element("li", path + (up ? "" : ": cannot be read"))));
	if (ppa)
		draw_ppa(ppa);
	tell("hidden", hidden, " names are hidden by the filter.");
}

function redraw() {
	if (got)
		draw(got, last_ppa);
}

// How many of something are not shown, if any.
function tell(id, nr, text) {
	$(id).hidden = !nr;
	$(id).textContent = nr ? nr + text : "";
}

const begun = performance.now();
let before = null, got = null;

function say(text) {
	// a screen reader is told of changes only
	if ($("state").textContent !== text)
		$("state").textContent = text;
}

// The second that it is, from the first look on.
const second_of = time => Math.round((time - begun) / 1000);

async function look() {
	const now = performance.now();

	// a timer may come early
	if (before !== null && second_of(now) === second_of(before))
		return;
	try {
		const [text, histograms, ppa] = await Promise.all([
			ask("metrics"), ask("histograms"), ask("ppa")]);

		const next = parse(await text.text());
		const { histograms: hists, left_out } =
			parse_hists(await histograms.text());
		const { interval } = await ppa.json();

		// all of one look, or nothing
		got = Object.assign(next, { hists, left_out });
		last_ppa = interval;
		take(got, (now - before) / 1e3, second_of(now) - second_of(before));
		before = now;
		redraw();
		// the button may have been pressed meanwhile
		say(paused ? "Paused." : "Live.");
	} catch (error) {
		say("No answer: " + error.message);
	}
}

$("pause").addEventListener("click", () => {
	paused = !paused;
	$("pause").setAttribute("aria-pressed", paused);
	say(paused ? "Paused." : "Live.");
});
$("filter").addEventListener("input", () => {
	filter = $("filter").value;
	redraw();
});
for (const button of document.querySelectorAll("[data-key]"))
	button.addEventListener("click", () => {
		const key = button.dataset.key;

		order = { key, up: order.key === key ? !order.up : key === "name" };
		redraw();
	});
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

async function run() {
	for (;;) {
		if (!paused && !document.hidden)
			await look();
		// at a second's begin, however long that took
		await new Promise(done => setTimeout(done,
			1000 - (performance.now() - begun) % 1000));
	}
}
run();

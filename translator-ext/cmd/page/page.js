// What `stapwatch metrics --listen' shows at /: it asks for /metrics and /ppa each second.
// Names are a script's and a program's own, so they become text and nothing else.
"use strict";

const SECONDS = 120;		// what a heat map has
const COLUMN = 6, ROW = 6;	// pixels of its cells
const $ = id => document.getElementById(id);
const hists = new Map();	// by name
const counters = new Map();
let paused = false, filter = "", order = { key: "name", up: true };
let last_ppa = null;

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

const bound_from = le => le === "+Inf" ? Infinity : BigInt(le.replace(/\.0$/, ""));

// Counters by name, histograms as their counts below each bound, and maps.
function parse(text) {
	const got = { counters: new Map(), hists: new Map(), maps: [] };
	const kinds = new Map();

	for (const line of text.split("\n")) {
		const type = line.match(/^# TYPE (\S+) (\S+)$/);
		const m = line.match(/^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/s);

		if (type)
			kinds.set(type[1], type[2]);
		if (!m || line[0] === "#")
			continue;
		const labels = labels_of(m[2]);
		const rest = labels.filter(l => l[0] !== "le");
		const family = m[1].replace(/_bucket$/, "");
		const name = base => base + (rest.length ? "{" + rest.map(
			l => l[0] + "=\"" + l[1] + "\"").join(",") + "}" : "");

		if (m[1] === "stapwatch_map_up")
			got.maps.push([rest[0] ? said_by(rest[0][1]) : "",
				m[3] === "1"]);
		else if (kinds.get(m[1]) === "counter")
			got.counters.set(name(m[1].replace(/_total$/, "")),
				BigInt(m[3]));
		else if (m[1] !== family && kinds.get(family) === "histogram") {
			const key = name(family);

			if (!got.hists.has(key))
				got.hists.set(key, []);
			const le = labels.find(l => l[0] === "le");
			got.hists.get(key).push([le ? bound_from(le[1]) : NaN,
				BigInt(m[3])]);
		}
	}
	return got;
}

// ---- histograms

// What came between two looks, by bucket; null where the histogram is another one.
function difference(before, now) {
	let under = 0n;
	const out = now.map(([bound, n], i) => {
		const new_here = n - before[i][1];
		const d = new_here - under;

		under = new_here;
		return Number(d);
	});

	return out.some(d => d < 0) ? null : out;
}

const total = counts => counts.reduce((a, b) => a + b, 0);

// The bucket that has the value that so many of a hundred are not above; -1 of nothing.
function quantile(counts, percent) {
	const all = total(counts);
	let seen = 0;

	return all ? counts.findIndex(n => (seen += n) && seen * 100 >= percent * all)
		   : -1;
}

const bound_of = (h, bucket) => bucket < 0 ? "none" :
	shown(h.bounds[bucket]) || "more than any";

function told(h, column) {
	const counts = h.columns[column];

	if (!counts)
		return "nothing is known of that second";
	const ago = h.columns.length - 1 - column;
	return (ago ? ago + " s ago: " : "now: ") + shown(total(counts)) +
		" values" + (total(counts) ? "; half at most " +
		bound_of(h, quantile(counts, 50)) + ", 99 % at most " +
		bound_of(h, quantile(counts, 99)) : "");
}

function new_hist(name, now) {
	const h = { columns: [], before: null, at: null,
		bounds: now.map(b => b[0]) };
	const figure = element("figure");

	h.figure = figure;
	h.canvas = element("canvas");
	h.canvas.tabIndex = 0;
	h.canvas.setAttribute("role", "img");
	h.text = element("p", "", "told");
	figure.append(element("figcaption", name), h.canvas, h.text);
	// read out when the user asks, not each second
	h.said = element("p");
	h.said.setAttribute("aria-live", "polite");
	figure.append(h.said);
	h.canvas.addEventListener("keydown", event => {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];

		if (!step)
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
	});
	return h;
}

function take_hist(name, now) {
	let h = hists.get(name);

	if (!h || h.bounds.length !== now.length) {
		if (h)
			h.figure.remove();
		h = new_hist(name, now);
		hists.set(name, h);
		$("hists").append(h.figure);
	}
	if (h.before) {
		const d = difference(h.before, now);

		// the script has begun anew
		h.columns = d ? [...h.columns, d].slice(-SECONDS) : [];
	}
	h.before = now;
}

function draw_hist(h) {
	const used = h.columns.flatMap(c => c.flatMap((n, i) => n ? [i] : []));
	const low = used.length ? Math.min(...new Set(used)) : 0;
	const high = used.length ? Math.max(...new Set(used)) : 0;
	const most = Math.max(1, ...h.columns.map(c => Math.max(...c)));
	const left = 90, rows = high - low + 1;
	const c = h.canvas, height = Math.max(rows * ROW * 2, 24);
	const row = height / rows;
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;

	c.width = left + SECONDS * COLUMN;
	c.height = height;
	const g = c.getContext("2d");
	g.font = "11px sans-serif";
	g.fillStyle = dark ? "#ddd" : "#222";
	g.textBaseline = "top";
	g.fillText(bound_of(h, high), 2, 1);
	if (rows > 1) {
		g.textBaseline = "bottom";
		g.fillText(bound_of(h, low), 2, height - 1);
	}
	const x = column => left + (SECONDS - h.columns.length + column) * COLUMN;
	const y = bucket => (high - bucket) * row;
	h.columns.forEach((counts, k) => counts.forEach((n, i) => {
		if (!n)
			return;
		// a single value is seen, too
		const part = .15 + .85 * Math.sqrt(n / most);
		g.fillStyle = `hsl(212 60% ${dark ? 15 + 60 * part :
			95 - 65 * part}%)`;
		g.fillRect(x(k), y(i), COLUMN, row);
	}));
	for (const [percent, color] of [[50, "#c2571a"], [99, "#b0103a"]])
		h.columns.forEach((counts, k) => {
			const bucket = quantile(counts, percent);

			if (bucket < 0)
				return;
			g.fillStyle = color;
			g.fillRect(x(k), y(bucket), COLUMN, 2);
		});
	if (h.at !== null) {
		g.strokeStyle = dark ? "#fff" : "#000";
		g.strokeRect(x(h.at) + .5, .5, COLUMN - 1, height - 1);
	}
	const end = h.columns.length - 1;
	c.setAttribute("aria-label", "Heat map of " + h.columns.length +
		" seconds");
	h.text.textContent = end < 0 ? "" : told(h, end);
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
	const rows = [...counters].filter(([name]) => name.includes(filter))
		.map(([name, c]) => ({ name, value: c.value, rate: c.rate }));

	rows.sort((a, b) => (a[order.key] < b[order.key] ? -1 :
		a[order.key] > b[order.key] ? 1 : 0) * (order.up ? 1 : -1));
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

			i.title = part;
			i.style.width = percent(cpu.parts[part], cpu.sum_ns) + "%";
			bar.append(i);
		}
		td.append(bar);
		return [element("td", cpu.cpu), ...parts.slice(0, 5).map(part =>
			element("td", percent(cpu.parts[part], cpu.sum_ns))), td];
	}));
	fill("threads", ppa.threads.map(t => {
		const of = ppa.seconds * 1e6;
		const off = Object.entries(t.waits).map(([name]) =>
			[name, t.parts[name]]).sort((a, b) => b[1] - a[1])[0];

		return [element("td", t.tid), element("td", t.pid),
			element("td", t.comm, "text"),
			element("td", percent(t.user_us, of)),
			element("td", percent(t.system_us, of)),
			element("td", t.sum_ns ? percent(t.sum_ns / 1e3 -
				t.user_us - t.system_us, of) : ""),
			element("td", off && off[1] ? off[0] : "", "text")];
	}));
}

// ---- each second

async function ask(url) {
	const answer = await fetch(url, { cache: "no-store" });

	if (!answer.ok)
		throw new Error(url + ": " + answer.status);
	return answer;
}

function take(got, seconds) {
	for (const name of counters.keys())
		if (!got.counters.has(name))
			counters.delete(name);
	for (const [name, value] of got.counters) {
		const old = counters.get(name);

		counters.set(name, { value, rate: old && value >= old.value ?
			Number(value - old.value) / seconds : NaN });
	}
	for (const [name, h] of hists)
		if (!got.hists.has(name)) {
			h.figure.remove();
			hists.delete(name);
		}
	for (const [name, now] of got.hists)
		take_hist(name, now);
}

function draw(got, ppa) {
	draw_counters();
	for (const [name, h] of hists) {
		h.figure.hidden = !name.includes(filter);
		draw_hist(h);
	}
	$("maps").replaceChildren(...got.maps.map(([path, up]) =>
		element("li", path + (up ? "" : ": cannot be read"))));
	if (ppa)
		draw_ppa(ppa);
	$("cpus-section").hidden = $("threads-section").hidden = !ppa;
	$("hists-section").hidden = !hists.size;
	$("counters-section").hidden = !counters.size;
	$("maps-section").hidden = !got.maps.length;
	$("none").hidden = ppa || got.maps.length;
}

let before = 0, got = null;

function say(text) {
	// a screen reader is told of changes only
	if ($("state").textContent !== text)
		$("state").textContent = text;
}

async function look() {
	try {
		const text = await (await ask("metrics")).text();
		const ppa = await (await ask("ppa")).json();
		const now = performance.now();

		got = parse(text);
		take(got, (now - before) / 1e3);
		before = now;
		last_ppa = ppa.interval;
		draw(got, last_ppa);
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
	if (got)
		draw(got, last_ppa);
});
for (const button of document.querySelectorAll("[data-key]"))
	button.addEventListener("click", () => {
		const key = button.dataset.key;

		order = { key, up: order.key === key ? !order.up : key === "name" };
		draw_counters();
	});

async function run() {
	for (;;) {
		if (!paused && !document.hidden)
			await look();
		await new Promise(done => setTimeout(done, 1000));
	}
}
run();

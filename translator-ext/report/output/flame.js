// The frames, as they are when all is shown: x and w in parts of the whole.
const svg = document.documentElement;
const whole = Number(svg.dataset.width);
const frames = [...svg.querySelectorAll("g.f")].map(g => {
	const rect = g.querySelector("rect");
	return {
		g, rect,
		text: g.querySelector("text"),
		title: g.querySelector("title").textContent,
		name: g.dataset.name,
		depth: Number(g.dataset.depth),
		x: Number(rect.getAttribute("x")) / whole,
		w: Number(rect.getAttribute("width")) / whole,
		fill: rect.getAttribute("fill"),
	};
});
const by = id => document.getElementById(id);
const thin = 1e-9;
let zoomed = null;
let term = "";
let typing = false;

function label(frame, width) {
	const room = Math.floor((width - 6) / 7);
	if (room < 3)
		return "";
	return frame.name.length <= room ? frame.name :
		frame.name.slice(0, room - 2) + "..";
}

function place(frame, x, w, above) {
	frame.g.style.display = w * whole < 0.1 ? "none" : "";
	frame.g.style.opacity = above ? 0.5 : 1;
	frame.rect.setAttribute("x", x * whole);
	frame.rect.setAttribute("width", w * whole);
	frame.text.setAttribute("x", x * whole + 3);
	frame.text.textContent = label(frame, w * whole);
}

function zoom(to) {
	zoomed = to;
	for (const f of frames) {
		if (!to) {
			place(f, f.x, f.w, false);
			continue;
		}
		const within = f.x >= to.x - thin &&
			f.x + f.w <= to.x + to.w + thin && f.depth >= to.depth;
		const above = f.depth < to.depth && f.x <= to.x + thin &&
			f.x + f.w >= to.x + to.w - thin;
		if (within)
			place(f, (f.x - to.x) / to.w, f.w / to.w, false);
		else if (above)
			place(f, 0, 1, true);
		else
			place(f, 0, 0, false);
	}
	by("reset").style.display = to ? "" : "none";
}

function search(text) {
	let found = 0, end = -1, match = null;
	term = text;
	try {
		match = text ? new RegExp(text, "i") : null;
	} catch (e) {
		by("term").textContent = "Search: " + text + " (no regular expression)";
		return;
	}
	// outer frames first: what is below one that was found is found already
	const hits = frames.filter(f => match && match.test(f.name))
		.sort((a, b) => a.x - b.x || a.depth - b.depth);
	for (const f of frames)
		f.rect.setAttribute("fill", f.fill);
	for (const f of hits) {
		f.rect.setAttribute("fill", "rgb(230,0,230)");
		if (f.x >= end - thin) {
			found += f.w;
			end = f.x + f.w;
		}
	}
	by("term").textContent = "Search: " + text + (typing ? "_" : "");
	by("found").textContent = match ?
		"Matched: " + (100 * found).toFixed(2) + "%" : "";
}

function type(on) {
	typing = on;
	search(term);
}

svg.addEventListener("click", e => {
	const g = e.target.closest("g.f");
	if (g)
		zoom(frames.find(f => f.g === g));
	else if (e.target.id === "reset")
		zoom(null);
	else if (e.target.id === "term")
		type(!typing);
});
svg.addEventListener("mouseover", e => {
	const g = e.target.closest("g.f");
	by("details").textContent = g ?
		frames.find(f => f.g === g).title : "";
});
window.addEventListener("keydown", e => {
	if ((e.ctrlKey && e.key === "f") || (!typing && e.key === "/")) {
		term = "";
		type(true);
	} else if (e.key === "Escape") {
		if (typing || term) {
			term = "";
			type(false);
		} else {
			zoom(null);
		}
	} else if (!typing || e.ctrlKey || e.altKey || e.metaKey) {
		return;
	} else if (e.key === "Enter") {
		type(false);
	} else if (e.key === "Backspace") {
		search(term.slice(0, -1));
	} else if (e.key.length === 1) {
		search(term + e.key);
	} else {
		return;
	}
	e.preventDefault();
});

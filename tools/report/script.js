"use strict";
const $ = id => document.getElementById(id);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const num = n => n.toLocaleString("en-US");
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
/** A duration to three digits. */
const dur = ns => { const [u, name] = UNITS.find(([u]) => ns >= u) || UNITS[3], v = ns / u; return (v >= 100 || u === 1 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2)) + " " + name; };
/** A place on an axis whose marks are `step` apart: no more digits than these need. */
const mark = (ns, step) => { if (ns === 0) return "0"; const [u, name] = UNITS.find(([u]) => Math.max(ns, step) >= u) || UNITS[3]; return (ns / u).toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / u) - 1e-9)))) + " " + name; };
/** 1, 2 or 5 times a power of ten, so that at most `most` fit. */
function round_step(span, most) { const raw = span / Math.max(1, most), p = 10 ** Math.floor(Math.log10(raw)); return [1, 2, 5, 10].map(k => k * p).find(s => s >= raw * .999999); }

// ---- colours: fifteen that differ in hue and lightness, neighbours far apart -----------------------------------------------------------
const dark = matchMedia("(prefers-color-scheme:dark)");
const TYPES = D.types.length;
function color(i) {
  if (i < 0 || i >= TYPES) return css("--soft");
  const k = i % 15, later = i >= 15, hue = (212 + k * 168) % 360, light = (dark.matches ? [66, 54, 74] : [42, 55, 33])[k % 3];
  return `hsl(${hue} ${later ? 30 : 68}% ${light + (later ? 8 : 0)}%)`;
}
let colors = [];

// ---- what is shown ---------------------------------------------------------------------------------------------------------------------
const tracks = D.tracks.map(b => Uint8Array.from(atob(b), c => c.charCodeAt(0)));
let v0 = 0, v1 = 1;             // the part of the trace that all axes of time show
let shown = new Set(D.types.keys()); // types
let chosen = -1;                // a task
const ROW = Math.max(2, Math.min(26, Math.floor(1200 / tracks.length))), BAR = ROW > 8 ? ROW - 4 : Math.max(1, ROW - 1), NAMED = Math.ceil(14 / ROW), TOP = 6;
const narrow = () => innerWidth < 600;
const left = () => narrow() ? 44 : 76;
const track_name = k => narrow() ? D.names[k].replace("worker ", "w ").replace("spare ", "s ").replace("thread ", "t ") : D.names[k];
const x_of = (ns, W) => left() + (ns / D.ns - v0) / (v1 - v0) * W;

function setup(id, h) {
  const c = $(id), r = devicePixelRatio || 1, w = c.clientWidth;
  c.style.height = h + "px"; c.width = w * r; c.height = h * r;
  const g = c.getContext("2d");
  g.scale(r, r); g.clearRect(0, 0, w, h); g.font = "12px system-ui,sans-serif"; g.fillStyle = css("--fg");
  return [g, w, h];
}
/** The axis of time, the same below the timeline and the charts. */
function time_axis(g, W, y) {
  const from = v0 * D.ns, to = v1 * D.ns, step = round_step(to - from, Math.max(2, Math.floor(W / 72)));
  g.fillStyle = css("--soft"); g.textAlign = "center";
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    const x = x_of(t, W);
    g.fillRect(x, y - 15, 1, 4); g.fillText(mark(t, step), Math.min(Math.max(x, left() + 18), left() + W - 18), y - 1);
  }
}
function draw_track(g, k, W) {
  const y = TOP + k * ROW, a = tracks[k], cols = D.columns, end = y + BAR;
  g.fillStyle = css("--fg"); g.textAlign = "right";
  if (k % NAMED === 0) g.fillText(track_name(k), left() - 6, y + Math.min(15, ROW / 2 + 5));
  g.fillStyle = css("--bg"); g.fillRect(left(), y, W, BAR);
  const idle = css("--idle"), away = css("--away"), others = css("--line");
  for (let x = 0; x < W; x++) {
    const c0 = Math.floor((v0 + (v1 - v0) * x / W) * cols), c1 = Math.max(c0 + 1, Math.floor((v0 + (v1 - v0) * (x + 1) / W) * cols));
    let t = 0, i = 0, k2 = 0, best = 0, type = 0;
    for (let c = c0; c < c1 && c < cols; c++) { const o = 4 * c; t += a[o + 1]; i += a[o + 2]; k2 += a[o + 3]; if (a[o + 1] > best) { best = a[o + 1]; type = a[o]; } }
    const m = 255 * (c1 - c0);
    if (i) { g.fillStyle = idle; g.fillRect(left() + x, y, 1, BAR * Math.min(1, i / m)); }
    if (t) { const p = BAR * Math.min(1, t / m); g.fillStyle = type === 255 || shown.has(type) ? colors[type] : others; g.fillRect(left() + x, end - p, 1, p); }
    if (k2) { const p = BAR * Math.min(1, k2 / m); g.fillStyle = away; g.fillRect(left() + x, y, 1, p); }
  }
}
// Tasks are rows of five numbers: track, type, begin, duration, place on the critical path (-1: not on it).
const T = D.tasks, COUNT = T.length / 5, task = i => ({track: T[5 * i], type: T[5 * i + 1], begin: T[5 * i + 2], ns: T[5 * i + 3], path: T[5 * i + 4]});
function box(g, t, W, colour, width) {
  const x0 = Math.max(left(), x_of(t.begin, W)), x1 = Math.min(left() + W, x_of(t.begin + t.ns, W));
  if (x1 < left() || x0 > left() + W) return;
  g.strokeStyle = colour; g.lineWidth = width; g.strokeRect(x0, TOP + t.track * ROW, Math.max(x1 - x0, 1), BAR);
}
/** A strip along the top of the bar, and a frame where there is room for one. */
function path_mark(g, t, W, colour) {
  const x0 = Math.max(left(), x_of(t.begin, W)), x1 = Math.min(left() + W, x_of(t.begin + t.ns, W));
  if (x1 < left() || x0 > left() + W) return;
  g.fillStyle = colour; g.fillRect(x0, TOP + t.track * ROW - 1, Math.max(x1 - x0, 1), Math.min(3, BAR));
  if (x1 - x0 > 9) box(g, t, W, colour, 1);
}
const middle = t => TOP + t.track * ROW + BAR / 2;
function arrow(g, from, to, W, colour) {
  const x0 = x_of(from.begin + from.ns, W), y0 = middle(from), x1 = x_of(to.begin, W), y1 = middle(to);
  g.strokeStyle = g.fillStyle = colour; g.lineWidth = 1.5;
  const bow = y0 === y1 ? BAR : 0; // past the tasks between them
  g.beginPath(); g.moveTo(x0, y0); g.bezierCurveTo(x0 + 18, y0 + bow, x1 - 18, y1 + bow, x1, y1); g.stroke();
  g.beginPath(); g.moveTo(x1, y1); g.lineTo(x1 - 7, y1 - 4); g.lineTo(x1 - 7, y1 + 4); g.fill();
}
const PATH = []; for (let i = 0; i < COUNT; i++) if (T[5 * i + 4] >= 0) PATH.push(i);
PATH.sort((a, b) => T[5 * a + 4] - T[5 * b + 4]);
function clip_time(g, W, h) { g.save(); g.beginPath(); g.rect(left(), 0, W, h); g.clip(); }
function timeline() {
  const h = tracks.length * ROW + 32, [g, w] = setup("time", h), W = w - left() - 8;
  for (let k = 0; k < tracks.length; k++) draw_track(g, k, W);
  clip_time(g, W, h - 18);
  if ($("path") && $("path").checked) {
    const c = css("--path");
    g.strokeStyle = c; g.lineWidth = 1;
    PATH.forEach((p, i) => {
      const t = task(p);
      path_mark(g, t, W, c);
      if (i) { const b = task(PATH[i - 1]); if (b.track !== t.track) { g.beginPath(); g.moveTo(x_of(b.begin + b.ns, W), middle(b)); g.lineTo(x_of(t.begin, W), middle(t)); g.stroke(); } }
    });
  }
  if (chosen >= 0) {
    const t = task(chosen);
    for (const [a, b] of D.edges) if (b === chosen) arrow(g, task(a), t, W, css("--a")); else if (a === chosen) arrow(g, t, task(b), W, css("--away"));
    box(g, t, W, css("--fg"), 2.5);
  }
  g.restore();
  time_axis(g, W, h - 3);
}
/** Lines over the time that the timeline shows. */
function over_time(id, list) {
  const [g, w, h] = setup(id, narrow() ? 170 : 200), W = w - left() - 8, T0 = 22, B = 24, H = h - B - T0, n = list[0].v.length;
  const a = Math.max(0, Math.floor(v0 * n)), b = Math.min(n, Math.ceil(v1 * n)), most = Math.max(1e-9, ...list.flatMap(l => l.v.slice(a, b)));
  const top = y_axis(g, most, T0, H, left(), W);
  let x = left();
  for (const l of list) { g.fillStyle = l.c; g.textAlign = "left"; g.fillText(l.n, x, 13); x += g.measureText(l.n).width + 18; }
  clip_time(g, W, h);
  for (const l of list) {
    g.strokeStyle = l.c; g.lineWidth = 2; g.beginPath();
    for (let i = Math.max(0, a - 1); i < Math.min(n, b + 1); i++) { const px = x_of((i + .5) / n * D.ns, W), py = T0 + H - H * l.v[i] / top; i > Math.max(0, a - 1) ? g.lineTo(px, py) : g.moveTo(px, py); }
    g.stroke();
  }
  g.restore(); g.lineWidth = 1;
  time_axis(g, W, h - 3);
}
/** Round marks; what the highest of them is. */
function y_axis(g, most, T0, H, L, W) {
  const step = round_step(most, 4), top = Math.max(step, Math.ceil(most / step - 1e-9) * step), digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  g.strokeStyle = css("--line"); g.fillStyle = css("--soft"); g.textAlign = "right"; g.lineWidth = 1;
  for (let q = 0; q <= top + step / 2; q += step) {
    const y = T0 + H - H * q / top;
    g.beginPath(); g.moveTo(L, y); g.lineTo(L + W, y); g.stroke();
    g.fillText(q >= 1e6 ? q / 1e6 + " M" : q >= 1e4 ? q / 1e3 + " k" : q.toFixed(digits), L - 6, y + 4);
  }
  return top;
}
/** Powers of ten of a logarithmic axis of durations, from 64 ns on, two buckets per power of two. */
function grain_axis(g, L, W, y, n) {
  const decades = []; for (let ns = 100; ns < 64 * 2 ** (n / 2); ns *= 10) decades.push(ns);
  const every = Math.ceil(decades.length / Math.max(1, Math.floor(W / 62)));
  g.fillStyle = css("--soft"); g.textAlign = "center";
  decades.forEach((ns, i) => { if (i % every === 0) { const x = L + W * 2 * Math.log2(ns / 64) / n; g.fillRect(x, y - 15, 1, 4); g.fillText(mark(ns, ns), Math.min(Math.max(x, L + 16), L + W - 20), y - 1); } });
}
function grain() {
  const [g, w, h] = setup("grain", 220), L = left(), W = w - L - 8, T0 = 22, B = 24, H = h - B - T0, v = D.grains, top = y_axis(g, Math.max(...v, 1), T0, H, L, W);
  g.fillStyle = css("--soft"); g.textAlign = "left"; g.fillText("tasks, by how long they ran", L, 13);
  g.fillStyle = css("--a"); v.forEach((q, i) => { const p = H * q / top; g.fillRect(L + W * i / v.length + .5, T0 + H - p, Math.max(W / v.length - 1, 1), p); });
  grain_axis(g, L, W, h - 3, v.length);
}
function law() {
  const [g, w, h] = setup("law", 220), L = left(), W = w - L - 8, T0 = 22, B = 24, H = h - B - T0, n = D.grains.length, top = y_axis(g, 100, T0, H, L, W);
  g.fillStyle = css("--soft"); g.textAlign = "left"; g.fillText("efficiency of that grain, %", L, 13);
  g.strokeStyle = colors[0] || css("--a"); g.lineWidth = 2; g.beginPath();
  for (let i = 0; i < n; i++) { const ns = 64 * 2 ** ((i + .5) / 2), y = T0 + H - H * (100 * ns / (ns + D.gap)) / top, x = L + W * (i + .5) / n; i ? g.lineTo(x, y) : g.moveTo(x, y); }
  g.stroke(); g.lineWidth = 1; grain_axis(g, L, W, h - 3, n);
}
function speed() {
  const p = D.graph.predicted, one = p[0][1], [g, w, h] = setup("speed", 230), L = left(), W = w - L - 8, T0 = 22, B = 24, H = h - B - T0;
  const list = [{v: p.map(q => one / q[1]), c: css("--a"), n: "predicted speedup"}, {v: p.map(q => Math.min(q[0], one / D.graph.span)), c: css("--soft"), n: narrow() ? "bound" : "bound by work and span", d: [5, 4]}];
  const top = y_axis(g, Math.max(...list.flatMap(l => l.v)), T0, H, L, W), X = i => L + 10 + (W - 26) * i / Math.max(p.length - 1, 1);
  let at = L;
  for (const l of list) {
    g.strokeStyle = g.fillStyle = l.c; g.textAlign = "left"; g.fillText(l.n, at, 13); at += g.measureText(l.n).width + 18;
    g.lineWidth = 2; g.setLineDash(l.d || []); g.beginPath(); l.v.forEach((v, i) => { const y = T0 + H - H * v / top; i ? g.lineTo(X(i), y) : g.moveTo(X(i), y); }); g.stroke();
  }
  g.setLineDash([]); g.lineWidth = 1; g.fillStyle = css("--soft"); g.textAlign = "center"; p.forEach((q, i) => g.fillText(q[0], X(i), h - 6));
}
function draw_time() {
  timeline();
  if (D.live.length) over_time("tasks", [{v: D.live, c: css("--a"), n: "tasks in the graph"}, {v: D.ready, c: css("--away"), n: "ready"}].filter(l => l.v.length));
  if ($("busy")) over_time("busy", [{v: D.running, c: css("--a"), n: "workers in tasks"}]);
}
function draw() {
  colors = Array.from({length: 256}, (_, i) => color(i));
  document.querySelectorAll(".sw").forEach(e => e.style.background = color(+e.dataset.i));
  draw_time();
  if ($("grain")) grain();
  if (D.graph) { law(); speed(); }
}

// ---- zoom: the wheel, dragging, two fingers, keys ----------------------------------------------------------------------------------------
function zoom(at, factor) {
  const p = v0 + (v1 - v0) * at, z = Math.min(1, Math.max(16 / D.columns, (v1 - v0) * factor));
  v0 = Math.max(0, Math.min(1 - z, p - z * at)); v1 = v0 + z; draw_time();
}
function move(by) { const z = v1 - v0; v0 = Math.max(0, Math.min(1 - z, v0 + by * z)); v1 = v0 + z; draw_time(); }
function all() { v0 = 0; v1 = 1; draw_time(); }
const fraction = (c, x) => { const r = c.getBoundingClientRect(); return Math.min(1, Math.max(0, (x - r.left - left()) / (r.width - left() - 8))); };
function say(text) { $("where").textContent = text; }
function column_text(e) {
  const c = $("time"), r = c.getBoundingClientRect(), f = (e.clientX - r.left - left()) / (r.width - left() - 8), k = Math.floor((e.clientY - r.top - TOP) / ROW);
  if (f < 0 || f > 1 || !tracks[k]) return "";
  const col = Math.min(D.columns - 1, Math.floor((v0 + (v1 - v0) * f) * D.columns)), o = 4 * col, a = tracks[k];
  return `${D.names[k]} at ${dur(col / D.columns * D.ns)}: ` + (a[o + 1] ? `${D.types[a[o]] || "others"} ${Math.round(a[o + 1] / 2.55)} %` : "no task") + (a[o + 2] ? `, idle ${Math.round(a[o + 2] / 2.55)} %` : "") + (a[o + 3] ? `, off the processor ${Math.round(a[o + 3] / 2.55)} %` : "");
}
/** Moves the axis so that the task is seen, and no smaller than a few pixels. */
function bring(t) {
  const from = t.begin / D.ns, to = (t.begin + t.ns) / D.ns;
  if (from >= v0 && to <= v1) return;
  const z = Math.min(1, Math.max(v1 - v0, 1.2 * (to - from)));
  v0 = Math.max(0, Math.min(1 - z, (from + to - z) / 2)); v1 = v0 + z;
}
function choose(i) {
  chosen = i;
  if (i < 0) { timeline(); return say(""); }
  const t = task(i); bring(t); draw_time();
  const before = D.edges.filter(e => e[1] === i).length, after = D.edges.filter(e => e[0] === i).length;
  say(`${D.types[t.type] || "task"} on ${D.names[t.track]}, from ${dur(t.begin)} for ${dur(t.ns)}; ${before} before it, ${after} behind it` + (t.path >= 0 ? "; on the critical path" : ""));
}
/** The innermost task there. */
function task_at(e) {
  const c = $("time"), r = c.getBoundingClientRect(), k = Math.floor((e.clientY - r.top - TOP) / ROW), W = r.width - left() - 8;
  const ns = (v0 + (v1 - v0) * (e.clientX - r.left - left()) / W) * D.ns, slack = 2 * (v1 - v0) * D.ns / W;
  let best = -1;
  for (let i = 0; i < COUNT; i++) { const t = task(i); if (t.track === k && t.begin - slack <= ns && ns <= t.begin + t.ns + slack && (best < 0 || t.ns < T[5 * best + 3])) best = i; }
  return best;
}
/** The next or previous one on the track of the chosen task. */
function neighbour(step) {
  if (chosen < 0) return COUNT ? 0 : -1;
  const here = task(chosen), on_track = [];
  for (let i = 0; i < COUNT; i++) if (T[5 * i] === here.track) on_track.push(i);
  on_track.sort((a, b) => T[5 * a + 2] - T[5 * b + 2]);
  return on_track[Math.min(on_track.length - 1, Math.max(0, on_track.indexOf(chosen) + step))];
}
for (const id of ["time", "tasks", "busy"]) {
  const c = $(id);
  if (!c) continue;
  const fingers = new Map();
  let moved = 0;
  c.addEventListener("wheel", e => { if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); return move(e.deltaX / 600); } e.preventDefault(); zoom(fraction(c, e.clientX), e.deltaY > 0 ? 1.25 : .8); }, {passive: false});
  c.addEventListener("pointerdown", e => { fingers.set(e.pointerId, e.clientX); moved = 0; c.setPointerCapture(e.pointerId); });
  const up = e => { fingers.delete(e.pointerId); };
  c.addEventListener("pointerup", e => { up(e); if (id === "time" && moved < 4) choose(task_at(e)); });
  c.addEventListener("pointercancel", up);
  c.addEventListener("pointermove", e => {
    const before = fingers.get(e.pointerId);
    if (before === undefined) { if (id === "time" && chosen < 0) say(column_text(e)); return; }
    const W = c.clientWidth - left() - 8;
    if (fingers.size === 2) {
      const other = [...fingers].find(([p]) => p !== e.pointerId)[1], was = Math.abs(before - other), is = Math.abs(e.clientX - other);
      if (was > 4 && is > 4) zoom(fraction(c, (other + e.clientX) / 2), was / is);
    } else { move((before - e.clientX) / W); }
    moved += Math.abs(before - e.clientX); fingers.set(e.pointerId, e.clientX);
  });
  c.addEventListener("dblclick", all);
  c.addEventListener("keydown", e => {
    const act = {ArrowLeft: () => move(-.2), ArrowRight: () => move(.2), "+": () => zoom(.5, .6), "=": () => zoom(.5, .6), "-": () => zoom(.5, 1.6), "0": all, Home: all, Escape: () => choose(-1), "]": () => choose(neighbour(1)), "[": () => choose(neighbour(-1))}[e.key];
    if (act) { e.preventDefault(); act(); }
  });
}

// ---- types: legend, search, filter -------------------------------------------------------------------------------------------------------
function show_types(which) {
  shown = new Set(which);
  document.querySelectorAll("#legend button").forEach(b => b.setAttribute("aria-pressed", shown.has(+b.dataset.i)));
  timeline();
}
D.types.forEach((name, i) => {
  const b = document.createElement("button"), s = document.createElement("span"), t = document.createElement("span");
  b.dataset.i = i; b.title = name; b.setAttribute("aria-pressed", "true"); s.className = "sw"; s.dataset.i = i; t.textContent = name; b.append(s, t);
  b.addEventListener("click", () => { shown.size === TYPES ? show_types([i]) : (shown.has(i) ? shown.delete(i) : shown.add(i), show_types(shown.size ? shown : D.types.keys())); });
  $("legend").append(b);
});
$("search").addEventListener("input", () => {
  const wanted = $("search").value.toLowerCase(), is = name => name.toLowerCase().includes(wanted);
  document.querySelectorAll("#types tr[data-name]").forEach(r => r.hidden = !is(r.dataset.name));
  document.querySelectorAll("#legend button").forEach(b => b.hidden = !is(b.title));
  const found = [...D.types.keys()].filter(i => is(D.types[i]));
  show_types(found.length ? found : D.types.keys());
});
$("every").addEventListener("click", () => { $("search").value = ""; $("search").dispatchEvent(new Event("input")); });
if ($("path")) $("path").addEventListener("change", timeline);
addEventListener("resize", draw);
dark.addEventListener("change", draw);
draw();
document.documentElement.dataset.drawn = Math.round(performance.now());

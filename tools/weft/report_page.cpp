// SPDX-License-Identifier: Apache-2.0
#include "report_page.hpp"

namespace weft_tool {

const char k_page_head[] = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--soft:#5f6a75;--line:#d8dee4;--card:#f6f8fa;--idle:#e3e7eb;--away:#d1495b;--a:#2f6db5}
@media (prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e4e8ec;--soft:#98a3ad;--line:#353c44;--card:#1d2228;--idle:#2c333a;--away:#e0677a;--a:#6ba4e8}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1180px;padding:24px 32px 64px}
h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:36px 0 8px}p{margin:6px 0}.soft{color:var(--soft)}
ul.said{font-size:17px;padding-left:22px}ul.said li{margin:6px 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(172px,1fr));gap:12px;margin:18px 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px}.tile b{display:block;font-size:20px}.tile span{color:var(--soft);font-size:13px}
table{border-collapse:collapse;width:100%}th{text-align:right;color:var(--soft);font-weight:500;font-size:13px;border-bottom:1px solid var(--line);padding:4px 8px}
td{text-align:right;padding:4px 8px;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}th:first-child,td:first-child{text-align:left;max-width:420px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
canvas{width:100%;display:block;margin-bottom:8px;border:1px solid var(--line);border-radius:6px;background:var(--card)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:24px}.sw{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}
#where{height:22px}
</style>
)html";

const char k_page_script[] = R"html(
<script>
"use strict";
const $=i=>document.getElementById(i),css=n=>getComputedStyle(document.documentElement).getPropertyValue(n).trim();
const dur=n=>n<1e3?n.toFixed(0)+" ns":n<1e6?(n/1e3).toFixed(1)+" us":n<1e9?(n/1e6).toFixed(2)+" ms":(n/1e9).toFixed(3)+" s";
const num=n=>n.toLocaleString("en-US"),hues=[212,28,130,280,350,180,55,250,95,315,10,160];
const dark=matchMedia("(prefers-color-scheme:dark)");
const color=i=>i<0?css("--soft"):`hsl(${hues[i%hues.length]} ${i<12?58:32}% ${dark.matches?58:46}%)`;
function setup(id,h){const c=$(id),r=devicePixelRatio||1;c.style.height=h+"px";c.width=c.clientWidth*r;c.height=h*r;const g=c.getContext("2d");g.scale(r,r);
 g.clearRect(0,0,c.clientWidth,h);g.font="12px system-ui,sans-serif";g.fillStyle=css("--fg");return[g,c.clientWidth,h]}
const lanes=D.lanes.map(b=>{const s=atob(b),a=new Uint8Array(s.length);for(let i=0;i<s.length;i++)a[i]=s.charCodeAt(i);return a});
let v0=0,v1=1;const LEFT=70,ROW=Math.max(2,Math.min(26,Math.floor(1200/lanes.length))),NAMED=Math.ceil(14/ROW),BAR=ROW>8?ROW-4:Math.max(1,ROW-1);
function ticks(g,x0,x1,y,from,to){const span=to-from;let step=10**Math.floor(Math.log10(span/6));if(span/step>14)step*=5;else if(span/step>7)step*=2;
 g.fillStyle=css("--soft");g.textAlign="center";for(let t=Math.ceil(from/step)*step;t<=to;t+=step){const x=x0+(t-from)/span*(x1-x0);g.fillRect(x,y-14,1,4);g.fillText(dur(t),Math.min(Math.max(x,x0+20),x1-24),y)}}
function timeline(){const n=lanes.length,h=n*ROW+30,[g,w]=setup("time",h),cols=D.columns,W=w-LEFT-6;
 for(let k=0;k<n;k++){const y=6+k*ROW,a=lanes[k];g.fillStyle=css("--fg");g.textAlign="right";if(k%NAMED==0)g.fillText("worker "+D.slots[k],LEFT-8,y+Math.min(15,ROW/2+5));
  g.fillStyle=css("--bg");g.fillRect(LEFT,y,W,BAR);
  for(let x=0;x<W;x++){const c0=Math.floor((v0+(v1-v0)*x/W)*cols),c1=Math.max(c0+1,Math.floor((v0+(v1-v0)*(x+1)/W)*cols));
   let t=0,i=0,k2=0,best=0,type=0;for(let c=c0;c<c1&&c<cols;c++){const o=4*c;t+=a[o+1];i+=a[o+2];k2+=a[o+3];if(a[o+1]>best){best=a[o+1];type=a[o]}}
   const m=255*(c1-c0),H=BAR;let y2=y+H;
   if(i){g.fillStyle=css("--idle");g.fillRect(LEFT+x,y,1,H*Math.min(1,i/m))}
   if(t){const p=H*Math.min(1,t/m);g.fillStyle=cols_[type];g.fillRect(LEFT+x,y2-p,1,p)}
   if(k2){const p=H*Math.min(1,k2/m);g.fillStyle=css("--away");g.fillRect(LEFT+x,y,1,p)}}}
 ticks(g,LEFT,LEFT+W,h-4,v0*D.ns,v1*D.ns)}
let cols_=[];
function bars(id,values,label,ylab){const[g,w,h]=setup(id,230),m=Math.max(...values,1e-9),L=10,B=28,W=(w-2*L)/values.length;
 values.forEach((v,i)=>{const p=(h-B-14)*v/m;g.fillStyle=css("--a");g.fillRect(L+i*W+1,h-B-p,Math.max(W-2,1),p)});
 g.fillStyle=css("--soft");g.textAlign="left";g.fillText(ylab,L,12);g.textAlign="center";for(let i=0;i<values.length;i+=8)g.fillText(label(i),Math.max(L+i*W+W/2,24),h-8)}
function lines(id,list,xs,xlab,ylab,log){const[g,w,h]=setup(id,230),L=52,B=28,T=18,W=w-L-14,H=h-B-T,X=x=>log?Math.log2(x):x;
 const x0=X(xs[0]),x1=X(xs[xs.length-1]),m=Math.max(1e-9,...list.flatMap(l=>l.v));
 g.strokeStyle=css("--line");g.fillStyle=css("--soft");g.textAlign="right";for(let k=0;k<=4;k++){const y=T+H-H*k/4;g.beginPath();g.moveTo(L,y);g.lineTo(L+W,y);g.stroke();const q=m*k/4;g.fillText(q>=10?num(Math.round(q)):q.toFixed(1),L-6,y+4)}
 list.forEach((l,j)=>{g.strokeStyle=l.c;g.lineWidth=2;g.setLineDash(l.d||[]);g.beginPath();l.v.forEach((v,i)=>{const x=L+W*(X(xs[i])-x0)/Math.max(x1-x0,1e-9),y=T+H-H*v/m;i?g.lineTo(x,y):g.moveTo(x,y)});g.stroke();
  g.fillStyle=l.c;g.textAlign="left";g.fillText(l.n,L+8+j*170,12)});g.setLineDash([]);g.lineWidth=1;g.fillStyle=css("--soft");g.textAlign="center";
 const every=log?1:Math.ceil(xs.length/6);for(let i=0;i<xs.length;i+=every)g.fillText(xlab(xs[i]),L+W*(X(xs[i])-x0)/Math.max(x1-x0,1e-9),h-8)}
function draw(){cols_=D.types.map((t,i)=>color(i));while(cols_.length<256)cols_.push(css("--soft"));timeline();
 bars("grain",D.grains,i=>dur(64*2**(i/2)),"tasks, by how long they ran");
 const at=D.running.map((_,i)=>D.ns*(i+.5)/D.running.length);
 if(D.live.length)lines("tasks",[{v:D.live,c:color(0),n:"tasks in the graph"},{v:D.ready,c:color(1),n:"ready"}].filter(l=>l.v.length),at,dur,"",false);
 lines("busy",[{v:D.running,c:color(2),n:"workers in tasks"}],at,dur,"",false);
 if(D.graph){const p=D.graph.predicted,one=p[0][1],x=p.map(q=>q[0]);
  lines("speed",[{v:p.map(q=>one/q[1]),c:color(0),n:"predicted speedup"},{v:x.map(n=>Math.min(n,one/D.graph.span)),c:css("--soft"),n:"bound by work and span",d:[5,4]}],x,n=>n,"",true)
  const law=D.grains.map((_,i)=>{const g=64*2**((i+.5)/2);return 100*g/(g+D.gap)});
  lines("law",[{v:law,c:color(3),n:"efficiency of that grain, %"}],law.map((_,i)=>64*2**(i/2)),n=>Math.log2(n)%4?"":dur(n),"",true)}}
const cv=$("time");
cv.addEventListener("wheel",e=>{e.preventDefault();const r=cv.getBoundingClientRect(),f=Math.min(1,Math.max(0,(e.clientX-r.left-LEFT)/(r.width-LEFT-6))),p=v0+(v1-v0)*f,z=Math.min(1,Math.max(16/D.columns,(v1-v0)*(e.deltaY>0?1.25:.8)));
 v0=Math.max(0,Math.min(1-z,p-z*f));v1=v0+z;timeline()},{passive:false});
let grab=null;cv.addEventListener("pointerdown",e=>{grab=[e.clientX,v0];cv.setPointerCapture(e.pointerId)});cv.addEventListener("pointerup",()=>grab=null);
cv.addEventListener("pointermove",e=>{const r=cv.getBoundingClientRect();if(grab){const z=v1-v0;v0=Math.max(0,Math.min(1-z,grab[1]-(e.clientX-grab[0])/(r.width-LEFT-6)*z));v1=v0+z;timeline();return}
 const f=(e.clientX-r.left-LEFT)/(r.width-LEFT-6),k=Math.floor((e.clientY-r.top-6)/ROW);if(f<0||f>1||!lanes[k]){$("where").textContent="";return}
 const c=Math.floor((v0+(v1-v0)*f)*D.columns),o=4*c,a=lanes[k];$("where").textContent=`worker ${D.slots[k]} at ${dur(c/D.columns*D.ns)}: `+(a[o+1]?`${D.types[a[o]]||"others"} ${Math.round(a[o+1]/2.55)} %`:"no task")+(a[o+2]?`, idle ${Math.round(a[o+2]/2.55)} %`:"")+(a[o+3]?`, off cpu ${Math.round(a[o+3]/2.55)} %`:"")});
cv.addEventListener("dblclick",()=>{v0=0;v1=1;timeline()});
document.querySelectorAll(".sw").forEach(e=>e.style.background=color(+e.dataset.i));
addEventListener("resize",draw);dark.addEventListener("change",()=>{document.querySelectorAll(".sw").forEach(e=>e.style.background=color(+e.dataset.i));draw()});draw();document.documentElement.dataset.drawn=Math.round(performance.now());
</script></body></html>
)html";

} // namespace weft_tool

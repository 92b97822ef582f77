/* Style sheet of all pages: light or dark by the browser's preference, from 360 pixels width. */
#include <errno.h>
#include <string.h>

#include "common/web/html.h"

/* clang-format off */
static const char style[] =
":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#5b6570;--line:#d8dee4;--soft:#f4f6f8;"
"--link:#0757b8;--bar:#3f7fd0;--full:#c9562f;--mark:#1b1f24;--good:#1a7040;--bad:#b3261e;--warn:#8a5a00}\n"
"@media(prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e3e8ed;--dim:#9aa5b1;--line:#30373f;"
"--soft:#1c2229;--link:#7db4ff;--bar:#4a8be0;--full:#e07a50;--mark:#e3e8ed;--good:#5cc98a;--bad:#ff8a80;"
"--warn:#e3b341}}\n"
"*{box-sizing:border-box}\n"
"body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif}\n"
"header{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:baseline;padding:.6rem 1rem;"
"border-bottom:1px solid var(--line);background:var(--soft)}\n"
"header span{color:var(--dim)}\n"
"nav{display:flex;flex-wrap:wrap;gap:.1rem .9rem}\n"
"main{padding:0 1rem 1.5rem;max-width:90rem;margin:auto}\n"
"footer{padding:.5rem 1rem;color:var(--dim);font-size:.85em;border-top:1px solid var(--line)}\n"
"a{color:var(--link);text-decoration:none}a:hover,a:focus{text-decoration:underline}\n"
"a.here{color:var(--fg);font-weight:600}\n"
"h1{font-size:1.35rem;margin:.9rem 0 .6rem;overflow-wrap:anywhere}\n"
"h2{font-size:1.05rem;margin:1.4rem 0 .4rem}\n"
".wide{overflow-x:auto}\n"
"table{border-collapse:collapse;width:100%}\n"
"th,td{text-align:left;padding:.28rem .8rem .28rem 0;border-bottom:1px solid var(--line);vertical-align:top}\n"
"thead th{color:var(--dim);font-weight:500;white-space:nowrap}\n"
"td{overflow-wrap:break-word;min-width:4ch}td.id,td.n,td.t{white-space:nowrap;overflow-wrap:normal}\n"
"td.any{overflow-wrap:anywhere;min-width:9ch}"
"th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}\n"
"tbody th{font-weight:500}"
"table.facts{width:auto;max-width:100%}table.facts th{font-weight:500;color:var(--dim);white-space:nowrap}\n"
".tiles{display:flex;flex-wrap:wrap;gap:.6rem;margin:0;padding:0;list-style:none}\n"
".tiles li{flex:1 1 9rem;border:1px solid var(--line);border-radius:.4rem;padding:.45rem .7rem;background:var(--soft)}\n"
".tiles b{display:block;font-size:1.15rem;font-weight:600}\n"
".tiles span{color:var(--dim);font-size:.88em}\n"
"svg.bar{display:block;width:100%;min-width:6rem;max-width:24rem;height:.55rem;margin:.3rem 0}\n"
".plots{display:flex;flex-wrap:wrap;gap:.6rem}"
".plots figure{flex:1 1 9rem;min-width:0;margin:0;border:1px solid var(--line);border-radius:.4rem;padding:.45rem .7rem}\n"
".plots figcaption{color:var(--dim);font-size:.88em}.plots b{color:var(--fg);white-space:nowrap;font-variant-numeric:tabular-nums}.plots i{float:right;font-style:normal;opacity:.8}\n"
"svg.plot{display:block;width:100%;height:2.6rem;margin-top:.3rem}"
"svg.plot polyline{fill:none;stroke:var(--bar);stroke-width:1.5;vector-effect:non-scaling-stroke}\n"
".out,.all{fill:var(--line)}.used{fill:var(--bar)}.used.full{fill:var(--full)}.mark{fill:var(--mark)}\n"
".state{white-space:nowrap;font-weight:600;font-size:.85em}\n"
".good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.done,.other,.dim{color:var(--dim)}\n"
"form{display:flex;flex-wrap:wrap;gap:.4rem;margin:.6rem 0;align-items:end}\n"
"label{display:flex;flex-direction:column;color:var(--dim);font-size:.85em}\n"
"input,select,button{font:inherit;color:var(--fg);background:var(--bg);border:1px solid var(--line);"
"border-radius:.3rem;padding:.25rem .5rem;max-width:100%}\n"
"button{background:var(--soft);cursor:pointer}button.kill{border-color:var(--bad);color:var(--bad)}\n"
"pre{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.6rem;overflow-x:auto;"
"white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.4 ui-monospace,monospace}\n"
"p.links{display:flex;flex-wrap:wrap;gap:.3rem 1rem}\n"
".depth1{padding-left:1rem}.depth2{padding-left:2rem}.depth3{padding-left:3rem}\n"
"@media(max-width:40rem){th.x,td.x{display:none}main,header{padding-left:.6rem;padding-right:.6rem}"
"td.id,table.facts td{white-space:normal;overflow-wrap:anywhere}table.facts th{white-space:normal}}\n"
".b{font-weight:700}.c0,.c8{color:var(--dim)}.c1,.c9{color:var(--bad)}.c2,.c10{color:var(--good)}.c3,.c11{color:var(--warn)}"
".c4,.c12{color:var(--link)}.c5,.c13{color:#a25ac2}.c6,.c14{color:#12808c}.c7,.c15{color:var(--fg)}\n";
/* clang-format on */

int sv_html_style(struct sv_http_response *ret)
{
    ret->body = strdup(style);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = sizeof(style) - 1;
    ret->content_type = "text/css; charset=utf-8";
    ret->status = 200;
    return 0;
}

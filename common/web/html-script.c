/* Script of live plots: subscribes to the events of each sv_html_live, draws their last two
 * minutes, and replaces the page's facts with the events' values, as text. The plot's scale is the
 * smallest of a few shares that fits the data, and is labelled. Without script or events, the page
 * shows the server's state at load time. */
#include <errno.h>
#include <string.h>

#include "common/web/html.h"

/* clang-format off */
static const char script[] =
"'use strict';\n"
"document.querySelectorAll('section.live').forEach(function (section) {\n"
"  var ns = 'http://www.w3.org/2000/svg', most = 120, plots = Object.create(null), source = null;\n"
"  var scales = [0.02, 0.05, 0.1, 0.25, 0.5, 1];\n"
"  function add(name) {\n"
"    var figure = document.createElement('figure'), caption = document.createElement('figcaption');\n"
"    var svg = document.createElementNS(ns, 'svg'), line = document.createElementNS(ns, 'polyline');\n"
"    var plot = { line: line, value: document.createElement('b'), top: document.createElement('i'), points: [] };\n"
"    caption.append(name + ' ', plot.value, ' ', plot.top);\n"
"    svg.setAttribute('class', 'plot');\n"
"    svg.setAttribute('viewBox', '0 0 ' + (most - 1) + ' 40');\n"
"    svg.setAttribute('preserveAspectRatio', 'none');\n"
"    svg.setAttribute('aria-hidden', 'true');\n"
"    svg.append(line);\n"
"    figure.append(caption, svg);\n"
"    section.querySelector('.plots').append(figure);\n"
"    plots[name] = plot;\n"
"    return plot;\n"
"  }\n"
"  function draw(row) {\n"
"    var plot = plots[row[0]] || add(row[0]), points = plot.points;\n"
"    points.push(Math.max(0, Math.min(1, row[1])));\n"
"    if (points.length > most) points.shift();\n"
"    var full = scales.find(function (scale) { return scale >= Math.max.apply(null, points); });\n"
"    plot.value.textContent = row[2];\n"
"    plot.top.textContent = '0–' + 100 * full + ' %';\n"
"    plot.line.setAttribute('points', points.map(function (value, i) {\n"
"      return (most - points.length + i) + ',' + (39 - 38 * value / full).toFixed(1);\n"
"    }).join(' '));\n"
"  }\n"
"  function tell(fact) {\n"
"    document.querySelectorAll('[data-live]').forEach(function (element) {\n"
"      if (element.dataset.live !== fact[0]) return;\n"
"      element.textContent = fact[1];\n"
"      if (fact[2]) element.className = fact[2];\n"
"    });\n"
"  }\n"
"  function follow() {\n"
"    if (source && source.readyState < 2) return;\n"
"    source = new EventSource(section.dataset.from + location.search);\n"
"    source.onmessage = function (event) {\n"
"      var data = JSON.parse(event.data), rows = data.rows;\n"
"      rows.forEach(draw);\n"
"      (data.facts || []).forEach(tell);\n"
"      if (rows.length) section.hidden = false;\n"
"    };\n"
"  }\n"
"  document.addEventListener('visibilitychange', function () {\n"
"    if (!document.hidden) follow();\n"
"    else if (source) source.close();\n"
"  });\n"
"  follow();\n"
"});\n";
/* clang-format on */

int sv_html_script(struct sv_http_response *ret)
{
    ret->body = strdup(script);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = sizeof(script) - 1;
    ret->content_type = "text/javascript; charset=utf-8";
    ret->status = 200;
    return 0;
}

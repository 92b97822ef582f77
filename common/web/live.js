// Live plots: follows the events of each sv_html_live and draws their last two minutes, replaces the
// page's facts by theirs, texts as text. A plot's scale is the smallest of some shares that fits its
// points, and is printed in the plot. Without script or events a page stays as the server made it.
'use strict';
document.querySelectorAll('section.live').forEach(function (section) {
  var ns = 'http://www.w3.org/2000/svg', most = 120, plots = Object.create(null), source = null;
  var scales = [0.02, 0.05, 0.1, 0.25, 0.5, 1];
  function add(name) {
    var figure = document.createElement('figure'), caption = document.createElement('figcaption');
    var svg = document.createElementNS(ns, 'svg'), line = document.createElementNS(ns, 'polyline');
    var plot = { line: line, value: document.createElement('b'), top: document.createElement('i'), points: [] };
    caption.append(name + ' ', plot.value, ' ', plot.top);
    svg.setAttribute('class', 'plot');
    svg.setAttribute('viewBox', '0 0 ' + (most - 1) + ' 40');
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    svg.append(line);
    figure.append(caption, svg);
    section.querySelector('.plots').append(figure);
    plots[name] = plot;
    return plot;
  }
  function draw(row) {
    var plot = plots[row[0]] || add(row[0]), points = plot.points;
    points.push(Math.max(0, Math.min(1, row[1])));
    if (points.length > most) points.shift();
    var full = scales.find(function (scale) { return scale >= Math.max.apply(null, points); });
    plot.value.textContent = row[2];
    plot.top.textContent = '0–' + 100 * full + ' %';
    plot.line.setAttribute('points', points.map(function (value, i) {
      return (most - points.length + i) + ',' + (39 - 38 * value / full).toFixed(1);
    }).join(' '));
  }
  function tell(fact) {
    document.querySelectorAll('[data-live]').forEach(function (element) {
      if (element.dataset.live !== fact[0]) return;
      element.textContent = fact[1];
      if (fact[2]) element.className = fact[2];
    });
  }
  function follow() {
    if (source && source.readyState < 2) return;
    source = new EventSource(section.dataset.from + location.search);
    source.onmessage = function (event) {
      var data = JSON.parse(event.data), rows = data.rows;
      rows.forEach(draw);
      (data.facts || []).forEach(tell);
      if (rows.length) section.hidden = false;
    };
  }
  document.addEventListener('visibilitychange', function () {
    if (!document.hidden) follow();
    else if (source) source.close();
  });
  follow();
});

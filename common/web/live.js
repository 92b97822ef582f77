// Makes pages live: draws the plots of the events of a section.live, and of its history; replaces
// facts by those of events, and parts of the page by those of a newer copy of it; sorts tables by a
// click on a head. All texts are set as text. Without script or events a page stays as the server
// made it.
'use strict';
(function () {
  var ns = 'http://www.w3.org/2000/svg', recent = 120, refresh_ms = 5000, again_ms = 15000;
  var scales = [0.02, 0.05, 0.1, 0.25, 0.5, 1];

  // ---- Words ----

  function bytes(v) {
    var units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], i = 0;
    for (; v >= 1024 && i + 1 < units.length; i++) v /= 1024;
    return (i === 0 || v >= 100 ? v.toFixed(0) : v.toFixed(1)) + ' ' + units[i];
  }
  function two(v) { return String(Math.floor(v)).padStart(2, '0'); }
  function span(s) {
    if (s < 10) return s.toFixed(2) + ' s';
    if (s < 60) return Math.round(s) + ' s';
    if (s < 3600) return Math.floor(s / 60) + 'm ' + two(s % 60) + 's';
    return Math.floor(s / 3600) + 'h ' + two(s / 60 % 60) + 'm';
  }
  var words = { bytes: bytes, seconds: span, count: function (v) { return String(Math.round(v)); } };

  // ---- Plots ----

  function svg(name, attributes) {
    var element = document.createElementNS(ns, name);
    Object.keys(attributes).forEach(function (key) { element.setAttribute(key, attributes[key]); });
    return element;
  }
  // A figure whose line is drawn by draw(points, full); a point is a number or null. `told(i)` is
  // the text of a point under the pointer.
  function Plot(place, name) {
    var figure = document.createElement('figure'), caption = document.createElement('figcaption');
    var plot = this;
    this.value = document.createElement('b');
    this.top = document.createElement('i');
    this.points = [];
    this.text = '';
    this.told = null;
    this.area = svg('polygon', { 'class': 'area' });
    this.line = svg('polyline', {});
    this.at = svg('line', { 'class': 'at', y1: 0, y2: 40 });
    this.svg = svg('svg', { 'class': 'plot', viewBox: '0 0 100 40', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    this.svg.append(this.area, this.line, this.at);
    caption.append(name + ' ', this.value, ' ', this.top);
    figure.append(caption, this.svg);
    place.append(figure);
    this.svg.addEventListener('pointermove', function (event) { plot.point(event); });
    this.svg.addEventListener('pointerleave', function () {
      plot.value.textContent = plot.text;
      plot.at.setAttribute('class', 'at');
    });
  }
  Plot.prototype.point = function (event) {
    var box = this.svg.getBoundingClientRect(), n = this.points.length;
    var i = Math.round((event.clientX - box.left) / box.width * (this.width - 1)) - this.width + n;
    if (!this.told || i < 0 || i >= n) return;
    this.value.textContent = this.told(i);
    this.at.setAttribute('class', 'at here');
    this.at.setAttribute('x1', this.x(i));
    this.at.setAttribute('x2', this.x(i));
  };
  Plot.prototype.x = function (i) {
    return ((this.width - this.points.length + i) * 100 / (this.width - 1)).toFixed(2);
  };
  Plot.prototype.draw = function (width, full, text, top) {
    var plot = this, drawn = [], first, last;
    this.width = width;
    this.text = text;
    if (!this.at.classList.contains('here')) this.value.textContent = text;
    this.top.textContent = top;
    this.points.forEach(function (value, i) {
      if (value === null) return;
      if (first === undefined) first = plot.x(i);
      last = plot.x(i);
      drawn.push(last + ',' + (39 - 38 * Math.min(1, value / full)).toFixed(1));
    });
    if (drawn.length === 1) drawn.unshift((parseFloat(first) - 0.5) + drawn[0].slice(drawn[0].indexOf(',')));
    this.line.setAttribute('points', drawn.join(' '));
    this.area.setAttribute('points', drawn.length ? first + ',40 ' + drawn.join(' ') + ' ' + last + ',40' : '');
  };

  // Shares of the last two minutes, of which each event has one.
  function shares(place) {
    var plots = Object.create(null);
    return function (row) {
      var plot = plots[row[0]] = plots[row[0]] || new Plot(place, row[0]), points = plot.points, full;
      points.push(Math.max(0, Math.min(1, row[1])));
      if (points.length > recent) points.shift();
      full = scales.find(function (scale) { return scale >= Math.max.apply(null, points); });
      plot.draw(recent, full, row[2], '0–' + 100 * full + ' %');
    };
  }

  // ---- The last hour ----

  // The end of a scale above `most`, of which `full` is the natural one.
  function end_of(unit, most, full) {
    var end = unit === 'bytes' ? 1048576 : unit === 'seconds' ? 0.01 : 4;
    if (full && most > full / 4) return Math.max(full, most);
    while (end < most) end *= 2;
    return end;
  }
  // Fetches the history and returns a function that takes the newest values.
  function history_of(section, place) {
    var plots = [], at = null, step = 0, most = 0, waiting = null;
    function show(spec, plot) {
      var known = plot.points.filter(function (v) { return v !== null; });
      var full = end_of(spec.unit, Math.max.apply(null, known.concat(0)), spec.full);
      var width = Math.min(most, Math.max(13, plot.points.length)), word = words[spec.unit];
      var now = known.length ? known[known.length - 1] : null; // the last one that is known
      plot.told = function (i) {
        var v = plot.points[i];
        return (v === null ? '–' : word(v)) + ', ' + span((plot.points.length - 1 - i) * step) + ' ago';
      };
      plot.draw(width, full, (now === null ? '–' : word(now)) + (spec.full ? ' of ' + word(spec.full) : ''),
        '0–' + word(full) + ', ' + span((width - 1) * step));
    }
    function take(event) {
      if (at === null) { waiting = event; return; }
      plots.forEach(function (p, i) {
        var points = p.plot.points;
        for (var k = at; k < event.at - 1 && k < at + most; k++) points.push(null);
        if (event.at > at) points.push(event.values[i]); else points[points.length - 1] = event.values[i];
        while (points.length > most) points.shift();
        if (event.full[i] !== null) p.spec.full = event.full[i];
        show(p.spec, p.plot);
      });
      at = Math.max(at, event.at);
    }
    fetch(section.dataset.history + location.search).then(function (answer) {
      return answer.ok ? answer.json() : Promise.reject(answer.status);
    }).then(function (all) {
      step = all.step_s;
      most = all.samples;
      plots = all.plots.map(function (spec) {
        var plot = new Plot(place, spec.name);
        plot.points = spec.values.length ? spec.values : [null];
        show(spec, plot);
        return { spec: spec, plot: plot };
      });
      at = all.at;
      section.hidden = false;
      if (waiting) take(waiting);
    }).catch(function () {});
    return take;
  }

  // ---- Facts and parts ----

  function tell(fact) {
    document.querySelectorAll('[data-live]').forEach(function (element) {
      if (element.dataset.live !== fact[0]) return;
      element.textContent = fact[1];
      if (fact[2]) element.className = fact[2];
    });
  }
  var writer = new XMLSerializer(); // nothing here makes markup out of text
  // Replaces what has changed, unless a person is marking text.
  function replace(html) {
    var fresh = new DOMParser().parseFromString(html, 'text/html');
    if (String(window.getSelection())) return;
    document.querySelectorAll('[data-part]').forEach(function (part) {
      var other = fresh.querySelector('[data-part="' + part.dataset.part + '"]');
      var made = other && writer.serializeToString(other);
      if (!other || made === part.made) return;
      part.made = made;
      part.replaceChildren.apply(part, other.childNodes);
      tables(part);
    });
  }
  var version = null, asked_ms = 0, timer = null;
  function refresh() {
    timer = null;
    asked_ms = Date.now();
    fetch(location.href).then(function (answer) {
      return answer.ok ? answer.text() : Promise.reject(answer.status);
    }).then(replace).catch(function () {});
  }
  function changed(to) {
    var first = version === null, left = asked_ms + refresh_ms + Math.random() * 500 - Date.now();
    if (to === undefined || to === version) return;
    version = to;
    if (first && !asked_ms) { asked_ms = Date.now(); return; }
    if (!timer) timer = setTimeout(refresh, Math.max(0, left));
  }

  // ---- Events ----

  document.querySelectorAll('section.live').forEach(function (section) {
    var source = null, place = section.querySelector('.plots');
    var draw = shares(place), take = section.dataset.history ? history_of(section, place) : null;
    function follow() {
      if (document.hidden || (source && source.readyState < 2)) return;
      source = new EventSource(section.dataset.from + location.search);
      source.onmessage = function (event) {
        var data = JSON.parse(event.data);
        data.rows.forEach(draw);
        (data.facts || []).forEach(tell);
        if (take && data.points) take(data.points);
        if (data.rows.length) section.hidden = false;
        changed(data.version);
      };
      source.onerror = function () { // refused: too many streams, or the object is gone
        if (this.readyState === 2) setTimeout(follow, again_ms + Math.random() * again_ms);
      };
    }
    document.addEventListener('visibilitychange', function () {
      if (!document.hidden) follow();
      else if (source) source.close();
    });
    follow();
  });

  // ---- Sorting ----

  var orders = Object.create(null); // by the table's place in its part
  var sizes = { B: 1, KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1099511627776, s: 1, m: 60, h: 3600, d: 86400, '%': 1 };
  // The quantity that a cell begins with, or its text: "1.5 GiB of 2 GiB", "2h 03m", "12".
  function key_of(row, column) {
    var text = row.cells[column] ? row.cells[column].textContent.trim() : '', sum = 0, found;
    if (!/^[\d.]+ ?(B|[KMGT]iB|[smhd]|%|$|of |, )/.test(text)) return text.toLowerCase();
    var part = /^([\d.]+) ?([KMGT]?i?B|[smhd%])? ?/;
    for (var rest = text; (found = part.exec(rest)); rest = rest.slice(found[0].length))
      sum += parseFloat(found[1]) * (sizes[found[2]] || 1);
    return sum;
  }
  function sort(table, order) {
    var body = table.tBodies[0], rows = Array.from(body.rows);
    var keys = new Map(rows.map(function (row) { return [row, key_of(row, order.column)]; }));
    rows.sort(function (a, b) {
      var x = keys.get(a), y = keys.get(b);
      if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1; // unknown ones last
      return (x < y ? -1 : x > y ? 1 : 0) * order.direction;
    });
    body.append.apply(body, rows);
    Array.from(table.tHead.rows[0].cells).forEach(function (cell, i) {
      if (i === order.column) cell.setAttribute('aria-sort', order.direction > 0 ? 'ascending' : 'descending');
      else cell.removeAttribute('aria-sort');
    });
  }
  function tables(place) {
    place.querySelectorAll('table.rows').forEach(function (table, i) {
      var part = table.closest('[data-part]'), name = (part ? part.dataset.part : '') + ' ' + i;
      if (!table.tHead) return;
      Array.from(table.tHead.rows[0].cells).forEach(function (cell, column) {
        if (!cell.textContent) return;
        cell.tabIndex = 0;
        cell.onclick = function () {
          var before = orders[name], down = cell.classList.contains('n') ? -1 : 1;
          orders[name] = { column: column, direction: before && before.column === column ? -before.direction : down };
          sort(table, orders[name]);
        };
        cell.onkeydown = function (event) { if (event.key === 'Enter') cell.onclick(); };
      });
      if (orders[name]) sort(table, orders[name]);
    });
  }
  document.querySelectorAll('[data-part]').forEach(function (part) { part.made = writer.serializeToString(part); tables(part); });

  // ---- The box ----

  document.addEventListener('keydown', function (event) {
    var box = document.querySelector('form.find input[name=id]');
    if (event.key !== '/' || !box || event.ctrlKey || event.metaKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
    event.preventDefault();
    box.focus();
  });
})();

-- SPDX-License-Identifier: Apache-2.0
--- The script of report.html: puts a dygraph in the place of each timeline's drawing that is looked
--- at, and controls that a keyboard reaches. Text enters the page as text only.
return [==[
(function () {
  "use strict";
  var AXIS = "seconds from the start of the window";
  var root = document.documentElement;
  function colour(name) {
    return getComputedStyle(root).getPropertyValue("--" + name).trim();
  }
  function add(parent, tag, text, className) {
    var element = document.createElement(tag);
    if (text) element.textContent = text;
    if (className) element.className = className;
    return parent.appendChild(element);
  }
  function rows(section, chart) {
    var list = [], count = chart.values[0].length;
    for (var i = 0; i < count; i++) {
      var row = [(section.first + i) * section.width_ms / 1000];
      chart.values.forEach(function (values) {
        row.push(values[i] === null ? null : values[i] * chart.digit);
      });
      list.push(row);
    }
    return list;
  }
  function theme(section) {
    return {
      colors: section.runs.map(function (run) { return colour(run.variant); }),
      gridLineColor: colour("rule"),
      axisLineColor: colour("dim"),
      highlightSeriesBackgroundColor: colour("panel")
    };
  }
  function bands(section) {
    return function (canvas, area, graph) {
      var phases = [["warmup", -section.warmup_ms, 0], ["window", 0, section.duration_ms]];
      phases.forEach(function (one) {
        var left = Math.max(area.x, graph.toDomXCoord(one[1] / 1000));
        var right = Math.min(area.x + area.w, graph.toDomXCoord(one[2] / 1000));
        canvas.fillStyle = colour(one[0]);
        if (right > left) canvas.fillRect(left, area.y, right - left, area.h);
      });
    };
  }
  function draw(section, state, chart, figure) {
    var plot = add(figure, "div", "", "plot");
    var readout = add(figure, "div", "", "readout");
    readout.setAttribute("aria-hidden", "true");
    readout.textContent = AXIS;
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", figure.querySelector("svg").getAttribute("aria-label"));
    figure.classList.add("live");
    var options = theme(section);
    options.labels = ["s"].concat(section.runs.map(function (run) { return run.label; }));
    options.visibility = state.shown.slice();
    options.dateWindow = state.range;
    options.legend = "never";
    options.connectSeparatedPoints = true;
    options.includeZero = true;
    options.strokeWidth = 1.3;
    options.axisLabelFontSize = 12;
    options.axes = { y: { axisLabelWidth: 60 } };
    options.highlightSeriesOpts = { strokeWidth: 2.5 };
    options.highlightSeriesBackgroundAlpha = 0.5;
    options.highlightCircleSize = 3;
    options.underlayCallback = bands(section);
    options.highlightCallback = function (event, x, points, row, name) {
      points.forEach(function (point) {
        if (point.name === name)
          readout.textContent =
            name + ", " + x.toFixed(1) + " s: " + point.yval.toFixed(1) + " " + chart.unit;
      });
    };
    options.unhighlightCallback = function () { readout.textContent = AXIS; };
    state.graphs.push(new Dygraph(plot, rows(section, chart), options));
  }
  function control(parent, type, text, change) {
    var label = add(parent, "label");
    var input = add(label, "input");
    input.type = type;
    input.checked = true;
    label.appendChild(document.createTextNode(" " + text));
    input.addEventListener("change", function () { change(input.checked); });
    return input;
  }
  function controls(section, state) {
    var place = document.getElementById(section.id + "-controls");
    var runs = add(place, "fieldset");
    add(runs, "legend", "Runs shown");
    section.runs.forEach(function (run, i) {
      control(runs, "checkbox", run.label, function (on) {
        state.shown[i] = on;
        state.graphs.forEach(function (graph) { graph.setVisibility(i, on); });
      });
    });
    var label = add(place, "label", "Range ");
    var select = add(label, "select");
    add(select, "option", "launch to end");
    add(select, "option", "window only");
    select.addEventListener("change", function () {
      state.range = select.selectedIndex ? [0, section.duration_ms / 1000] : null;
      state.graphs.forEach(function (graph) {
        graph.updateOptions({ dateWindow: state.range });
      });
    });
    add(place, "span", "Drag across a chart to zoom, double-click to see all.", "note");
  }
  // A chart is drawn when it comes near the screen; until then, and on paper, its drawing stands.
  var waiting = new Map();
  var nearby = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (!entry.isIntersecting || !waiting.has(entry.target)) return;
      waiting.get(entry.target)();
      waiting.delete(entry.target);
      nearby.unobserve(entry.target);
    });
  }, { rootMargin: "300px" });
  var sections = JSON.parse(document.getElementById("data").textContent);
  var all = sections.map(function (section) {
    var shown = section.runs.map(function () { return true; });
    var state = { shown: shown, range: null, graphs: [] };
    section.charts.forEach(function (chart, i) {
      var figure = document.getElementById(section.id + "-" + i);
      waiting.set(figure, function () { draw(section, state, chart, figure); });
      nearby.observe(figure);
    });
    controls(section, state);
    return { section: section, state: state };
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
    all.forEach(function (one) {
      one.state.graphs.forEach(function (graph) { graph.updateOptions(theme(one.section)); });
    });
  });
})();
]==]

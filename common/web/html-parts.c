/* Parts of pages: see html.h. Bars are SVG, whose attributes the Content-Security-Policy allows,
 * with the figures as text beside them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/str.h"
#include "common/web/html.h"

void sv_html_table(struct sv_html *h, const char *const *heads)
{
    sv_html(h, "<div class=\"wide\"><table class=\"rows\">\n<thead><tr>");
    for (; *heads; heads++) {
        const char *name = *heads;
        bool hidden = *name == '-', number;

        name += hidden;
        number = *name == '#';
        sv_html(h, "<th class=\"%s\">%s</th>",
                hidden && number ? "n x"
                : hidden         ? "x"
                : number         ? "n"
                                 : "",
                name + number);
    }
    sv_html(h, "</tr></thead>\n<tbody>\n");
}

void sv_html_table_end(struct sv_html *h)
{
    sv_html(h, "</tbody>\n</table></div>\n");
}

static double share(double part, double full)
{
    double v = full > 0 ? 100 * part / full : 0;

    return isfinite(v) ? SV_MAX(SV_MIN(v, 100.0), 0.0) : 0;
}

void sv_html_bar(struct sv_html *h, struct sv_html_bar bar)
{
    double used = share(bar.used, bar.full), most = bar.most < 0 ? 100 : share(bar.most, bar.full);

    sv_html(h,
            "<svg class=\"bar\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" "
            "aria-hidden=\"true\"><rect class=\"out\" y=\"2.5\" width=\"100\" height=\"1\"/>"
            "<rect class=\"all\" width=\"%.1f\" height=\"6\"/>",
            most);
    if (used >= 90 && !bar.calm)
        sv_html(h, "<rect class=\"used full\" width=\"%.1f\" height=\"6\"/>", used);
    else
        sv_html(h, "<rect class=\"used\" width=\"%.1f\" height=\"6\"/>", used);
    if (bar.mark >= 0)
        sv_html(h, "<rect class=\"mark\" x=\"%.1f\" width=\"0.8\" height=\"6\"/>",
                SV_MIN(share(bar.mark, bar.full), 99.2));
    sv_html(h, "</svg>");
}

void sv_html_fact(struct sv_html *h, const char *name, const char *value)
{
    sv_html(h, "<tr><th>%s</th><td>%s</td></tr>\n", name, value);
}

void sv_html_live(struct sv_html *h, const char *path)
{
    sv_html(h, "<section class=\"live\" data-from=\"");
    sv_html_path(h, path);
    sv_html(h, "\" hidden>\n<h2>Now</h2>\n<div class=\"plots\"></div>\n</section>\n");
}

void sv_html_history(struct sv_html *h, const char *path, const char *history)
{
    sv_html(h, "<section class=\"live hour\" data-from=\"");
    sv_html_path(h, path);
    sv_html(h, "\" data-history=\"");
    sv_html_path(h, history);
    sv_html(h, "\" hidden>\n<h2>The last hour</h2>\n<div class=\"plots\"></div>\n</section>\n");
}

void sv_html_follow(struct sv_html *h, const char *path)
{
    sv_html(h, "<section class=\"live\" data-from=\"");
    sv_html_path(h, path);
    sv_html(h, "\" hidden><div class=\"plots\"></div></section>\n");
}

void sv_html_part(struct sv_html *h, const char *name)
{
    sv_html(h, "<div data-part=\"%s\">\n", name);
}

void sv_html_part_end(struct sv_html *h)
{
    sv_html(h, "</div>\n");
}

void sv_html_state(struct sv_html *h, const char *state)
{
    static const struct {
        const char *part, *class;
    } classes[] = {
        { "FAIL", "bad" },      { "LOST", "bad" },     { "UNHEALTHY", "bad" },
        { "KILL", "warn" },     { "REBOOT", "warn" },  { "DECOMMISSION", "warn" },
        { "SHUTDOWN", "warn" }, { "STOPPED", "warn" }, { "DRAINING", "warn" },
        { "RUNNING", "good" },  { "SUCC", "good" },    { "FINISHED", "done" },
    };
    const char *class = "other";

    for (size_t i = 0; i < SV_ARRAY_LEN(classes) && state; i++)
        if (strstr(state, classes[i].part)) {
            class = classes[i].class;
            break;
        }
    sv_html(h, "<span class=\"state %s\">%s</span>", class, state);
}

/* ---- Words ---- */

const char *sv_html_bytes(uint64_t bytes, char ret[static SV_HTML_WORD])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    double v = (double)bytes;
    size_t unit = 0;

    while (v >= 1024 && unit + 1 < SV_ARRAY_LEN(units)) {
        v /= 1024;
        unit++;
    }
    (void)snprintf(ret, SV_HTML_WORD, unit == 0 || v >= 100 ? "%.0f %s" : "%.1f %s", v,
                   units[unit]);
    return ret;
}

const char *sv_html_mb(int64_t mb, char ret[static SV_HTML_WORD])
{
    if (mb >= 0 && mb < 1024) {
        (void)snprintf(ret, SV_HTML_WORD, "%lld MiB", (long long)mb);
        return ret;
    }
    if (mb >= 0)
        return sv_html_bytes((uint64_t)SV_MIN(mb, INT64_MAX >> 20) << 20, ret);
    (void)snprintf(ret, SV_HTML_WORD, "%lld MiB", (long long)mb);
    return ret;
}

const char *sv_html_span(int64_t ms, char ret[static SV_HTML_WORD])
{
    long long s = SV_MAX(ms, (int64_t)0) / 1000;

    if (s < 10)
        (void)snprintf(ret, SV_HTML_WORD, "%.2f s", (double)SV_MAX(ms, (int64_t)0) / 1000);
    else if (s < 60)
        (void)snprintf(ret, SV_HTML_WORD, "%lld s", s);
    else if (s < 3600)
        (void)snprintf(ret, SV_HTML_WORD, "%lldm %02llds", s / 60, s % 60);
    else if (s < 86400)
        (void)snprintf(ret, SV_HTML_WORD, "%lldh %02lldm", s / 3600, s / 60 % 60);
    else
        (void)snprintf(ret, SV_HTML_WORD, "%lldd %02lldh", s / 86400, s / 3600 % 24);
    return ret;
}

const char *sv_html_time(int64_t wall_ms, char ret[static SV_HTML_WORD])
{
    time_t t = wall_ms / 1000;
    struct tm tm;

    if (wall_ms <= 0 || !gmtime_r(&t, &tm) ||
        !strftime(ret, SV_HTML_WORD, "%Y-%m-%d %H:%M:%S", &tm))
        (void)snprintf(ret, SV_HTML_WORD, "–");
    return ret;
}

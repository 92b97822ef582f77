/* See localization-json.h. */
#include "nodemanager/web/localization-json.h"

#include "localizer/cache.h"
#include "nodemanager/services/localization.h"

static json_t *tally_json(const struct loc_tally *t)
{
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "hits", (json_int_t)t->hits,
                     "misses", (json_int_t)t->misses, "hitBytes", (json_int_t)t->hit_bytes,
                     "missBytes", (json_int_t)t->miss_bytes, "downloads", (json_int_t)t->downloads,
                     "failures", (json_int_t)t->failures, "evictions", (json_int_t)t->evictions,
                     "evictedBytes", (json_int_t)t->evicted_bytes, "bytes", (json_int_t)t->bytes,
                     "entries", (json_int_t)t->entries);
}

json_t *nm_web_localization(const struct nm_localization *l)
{
    struct loc_stats s;

    nm_localization_stats(l, &s);
    return json_pack("{s:o,s:o,s:o,s:i,s:i}", "public", tally_json(&s.of[LOC_PUBLIC]), "private",
                     tally_json(&s.of[LOC_PRIVATE]), "application",
                     tally_json(&s.of[LOC_APPLICATION]), "downloading", (int)s.downloading,
                     "localizers", (int)s.processes);
}

static json_t *resource_json(const char *name, const struct loc_resource_progress *p)
{
    json_t *j = json_string(name);

    if (!j) /* not UTF-8 */
        j = json_string("?");
    return json_pack("{s:o,s:I,s:o,s:I}", "name", j, "bytes", (json_int_t)p->bytes, "totalBytes",
                     p->total < 0 ? json_null() : json_integer(p->total), "bytesPerSecond",
                     (json_int_t)p->rate);
}

json_t *nm_web_progress(const struct nm_localization *l, const struct nm_container *c)
{
    struct loc_resource_progress p;
    json_int_t bytes = 0, total = 0, rate = 0;
    int ready = 0, all = 0;
    bool known = true;
    json_t *now = json_array();
    const char *name;

    while ((name = nm_localization_progress(l, c, (unsigned)all, &p))) {
        all++;
        ready += p.ready;
        bytes += (json_int_t)SV_MIN(p.bytes, (uint64_t)1 << 50); /* 4096 of them do not overflow */
        known = known && p.total >= 0;
        total += p.total >= 0 ? SV_MIN(p.total, (int64_t)1 << 50) : 0;
        rate += (json_int_t)SV_MIN(p.rate, (uint64_t)1 << 50);
        if (p.downloading) /* LOC_WORKERS_MAX at most, ignoring */
            (void)json_array_append_new(now, resource_json(name, &p));
    }
    return json_pack("{s:i,s:i,s:I,s:o,s:I,s:o}", "resources", all, "ready", ready, "bytes", bytes,
                     "totalBytes", known ? json_integer(total) : json_null(), "bytesPerSecond",
                     rate, "downloading", now);
}

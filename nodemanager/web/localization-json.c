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

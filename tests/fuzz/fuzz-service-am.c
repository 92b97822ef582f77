/* Fuzzes what the master of a service reads beside its definition. The first byte chooses: the
 * journal, which printed again has the rows it had; Slider's resources, whose counts are in range;
 * the URL of a readiness check, whose target is the container's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/am/check/probe-target.h"
#include "service/am/facts/journal.h"
#include "service/am/view/slider-resources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static const struct yarn_app_id app = { 1700000000000, 7 };

static int row(void *userdata, const struct svc_journal_row *row)
{
    static const struct yarn_node_id node;
    static const struct yarn_resource resource;
    struct svc_container *c = svc_containers_add(userdata, row->id, &node, &resource, "");

    MUST(yarn_app_id_cmp(row->id.attempt.app, app) == 0 && strlen(row->instance) <= SVC_NAME_MAX);
    if (!c)
        return 0;
    c->upgrade = row->new || row->turning ? 1 : 0;
    c->turning = row->turning;
    return svc_container_name(c, row->instance);
}

static void journal(const char *text, size_t n)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SVC_JOURNAL_MAX);
    struct svc_containers first = { 0 }, again = { 0 }, none = { 0 };
    struct svc_journal_head head, second;
    struct sv_error err = { 0 };
    int r = svc_journal_parse(text, n, app, &head, row, &first, &err);

    MUST(r == 0 || (r == -EBADMSG && *err.text));
    if (r == 0) {
        head.number = 1;
        MUST(svc_journal_print(&head, &first, &none, &b) == 0);
        MUST(svc_journal_parse((char *)b.data, b.len, app, &second, row, &again, NULL) == 0);
        MUST(first.n == again.n && head.upgrade == second.upgrade &&
             strcmp(head.version, second.version) == 0);
    }
    svc_containers_clear(&first);
    svc_containers_clear(&again);
}

static void resources(const char *text, size_t n)
{
    static struct svc_component components[] = {
        { .name = "web", .resource = { .memory_mb = 256, .vcores = 1 } },
        { .name = "db", .resource = { .memory_mb = 1024, .vcores = 2 } },
    };
    static const struct svc_definition d = { .components = components, .n_components = 2 };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct svc_flex *list;
    size_t n_list;
    int r = svc_slider_resources(text, n, &d, a, &list, &n_list, &err);

    MUST(r == 0 || (r == -EINVAL && *err.text));
    for (size_t i = 0; r == 0 && i < n_list; i++)
        MUST(list[i].count >= 0 && list[i].count <= SVC_INSTANCES_MAX);
}

static void check(const char *text, size_t n)
{
    const struct svc_probe_addresses a = { "10.1.2.3", "ctr-1.site", "node1" };
    struct svc_probe p = { .type = SVC_READY_HTTP };
    struct svc_probe_target t;
    struct sv_error err = { 0 };
    char *url = strndup(text, n);
    int r;

    MUST(url);
    p.url = url;
    r = svc_probe_aim(&p, &a, &t, &err);
    MUST(r == 0 || (r == -EPERM && *err.text));
    if (r == 0)
        MUST(strcmp(t.address, a.ip) == 0 && t.port > 0 && !strchr(t.url, '\n'));
    free(url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;

    if (size == 0)
        return 0;
    switch (data[0] % 3) {
    case 0:
        journal(text, size - 1);
        break;
    case 1:
        resources(text, size - 1);
        break;
    default:
        check(text, size - 1);
        break;
    }
    return 0;
}

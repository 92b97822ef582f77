/* See local-bus.h. The bus' policy file reserves the bus name for the daemon. */
#include "client/local/local-bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "client/local/local-json.h"
#include "common/str.h"
#include "nodemanager/dbus/bus-path.h"

#define KEY "selvedge.nodemanager.dbus"
#define NODE NM_BUS_NAME ".Node"
#define CONTAINER NM_BUS_NAME ".Container"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define READ_USEC (25 * UINT64_C(1000000))
/* polkit may prompt the caller for a password: exceeds the daemon's own timeout. */
#define CALL_USEC (130 * UINT64_C(1000000))

struct cli_bus {
    sd_bus *bus;
    const struct cli_ctx *ctx;
};

/* ---- connection ---- */

static const char *address_of(const char *configured)
{
    const char *environment = getenv("DBUS_SYSTEM_BUS_ADDRESS");

    if (strcmp(configured, "system") != 0)
        return configured;
    return environment ? environment : "unix:path=/run/dbus/system_bus_socket";
}

static int connect_to(sd_bus *bus, const char *address)
{
    int r = sd_bus_set_address(bus, address);

    if (r >= 0)
        r = sd_bus_set_bus_client(bus, true);
    if (r >= 0)
        r = sd_bus_start(bus);
    /* sd_bus_start() is asynchronous: waits for the bus' greeting. */
    return r < 0 ? r : sd_bus_get_unique_name(bus, &(const char *){ NULL });
}

int cli_bus_open(struct cli_ctx *ctx, struct cli_bus **ret)
{
    _cleanup_bus_ struct cli_bus *b = calloc(1, sizeof(*b));
    const char *configured, *address;
    int code = cli_load_conf(ctx), r;

    if (code != 0)
        return code;
    configured = sv_conf_raw(ctx->conf, KEY);
    configured = configured ? configured : "system";
    if (strcmp(configured, "off") == 0)
        return cli_fail(KEY " is off in %s: the NodeManager of this machine is not on the bus",
                        sv_conf_dir(ctx->conf));
    address = address_of(configured);
    r = b ? sd_bus_new(&b->bus) : -ENOMEM;
    if (r >= 0)
        r = connect_to(b->bus, address);
    if (r < 0)
        return cli_fail("no message bus at %s (" KEY "): %s", address, strerror(-r));
    b->ctx = ctx;
    *ret = SV_TAKE(b);
    return 0;
}

struct cli_bus *cli_bus_free(struct cli_bus *b)
{
    if (b) {
        sd_bus_close(b->bus);
        sd_bus_unref(b->bus);
        free(b);
    }
    return NULL;
}

/* ---- calls ---- */

static int failed(const struct cli_bus *b, int r, const sd_bus_error *e, const char *subject)
{
    char text[1024];

    sv_escape(text, sizeof(text), e->message ? e->message : strerror(-r));
    if (b->ctx->verbose && e->name)
        (void)cli_fail("the bus' answer: %s: %s", e->name, text);
    if (sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
        sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
        return cli_fail("no NodeManager on the bus of this machine: systemctl status "
                        "selvedge-nodemanager shows whether it runs");
    if (sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED))
        return cli_fail("%s: refused: root may do this, and members of the group selvedge-admin "
                        "(%s)",
                        subject, text);
    if (sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_OBJECT))
        return cli_fail("%s: not on this node, or not one of yours", subject);
    return cli_fail("%s: %s", subject, text);
}

struct request {
    const char *path, *interface, *method;
    const char *text;    /* its only argument, or NULL */
    const char *subject; /* for messages */
    bool changes;        /* polkit may prompt for a password */
    bool quiet;          /* no message about a missing object */
    int *ret_fd;         /* the answer is a descriptor, which is copied; or NULL */
};

static int take_descriptor(sd_bus_message *reply, int *ret)
{
    int fd, r = sd_bus_message_read(reply, "h", &fd);

    if (r >= 0)
        *ret = r = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return r < 0 ? -errno : 0;
}

static int send_request(const struct cli_bus *b, const struct request *q, sd_bus_message *m,
                        json_t **ret)
{
    sd_bus_error e = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int r = sd_bus_call(b->bus, m, q->changes ? CALL_USEC : READ_USEC, &e, &reply), code = 0;

    if (r >= 0 && q->ret_fd)
        r = take_descriptor(reply, q->ret_fd);
    if (r >= 0 && ret && (r = cli_json_of_message(reply, ret)) < 0)
        code = cli_fail("%s: the NodeManager's answer: %s", q->subject, strerror(-r));
    else if (r < 0 && !(q->quiet && sd_bus_error_has_name(&e, SD_BUS_ERROR_UNKNOWN_OBJECT)))
        code = failed(b, r, &e, q->subject);
    sd_bus_error_free(&e);
    sd_bus_message_unref(reply);
    return code;
}

static int call(const struct cli_bus *b, const struct request *q, json_t **ret)
{
    sd_bus_message *m = NULL;
    int code, r = sd_bus_message_new_method_call(b->bus, &m, NM_BUS_NAME, q->path, q->interface,
                                                 q->method);

    if (r >= 0 && q->text)
        r = sd_bus_message_append(m, "s", q->text);
    if (r >= 0)
        r = sd_bus_message_set_auto_start(m, false);
    if (r >= 0)
        r = sd_bus_message_set_allow_interactive_authorization(m, q->changes);
    code = r < 0 ? cli_fail("%s: %s", q->subject, strerror(-r)) : send_request(b, q, m, ret);
    sd_bus_message_unref(m);
    return code;
}

int cli_bus_node(struct cli_bus *b, json_t **ret)
{
    const struct request q = {
        NM_BUS_ROOT, PROPERTIES, "GetAll", NODE, "node", false, false, NULL
    };

    return call(b, &q, ret);
}

int cli_bus_container(struct cli_bus *b, const char *id, bool quiet, json_t **ret)
{
    char path[NM_BUS_PATH_MAX];
    const struct request q = { path, PROPERTIES, "GetAll", CONTAINER, id, false, quiet, NULL };

    *ret = NULL;
    if (strlen(id) >= YARN_ID_TEXT_MAX || !sv_has_prefix(id, "container_")) {
        (void)cli_fail("%.80s: not a container: expected container_<time>_...", id);
        return 2;
    }
    (void)nm_bus_path(NM_BUS_CONTAINERS, id, path);
    return call(b, &q, ret);
}

int cli_bus_containers(struct cli_bus *b, json_t **ret)
{
    const struct request q = { NM_BUS_ROOT,
                               "org.freedesktop.DBus.ObjectManager",
                               "GetManagedObjects",
                               NULL,
                               "containers",
                               false,
                               false,
                               NULL };
    json_t *all = NULL, *list, *object;
    const char *path;
    int code = call(b, &q, &all);

    if (code != 0)
        return code;
    list = json_object();
    json_object_foreach(all, path, object)
    {
        json_t *c = json_object_get(object, CONTAINER);
        const char *id = cli_json_text(c, "Id");

        if (*id)
            (void)json_object_set(list, id, c); /* list NULL: handled below */
    }
    json_decref(all);
    if (!list)
        return cli_fail("out of memory");
    *ret = list;
    return 0;
}

int cli_bus_call_node(struct cli_bus *b, const char *method, const char *text)
{
    const struct request q = { NM_BUS_ROOT, NODE, method, text, method, true, false, NULL };

    return call(b, &q, NULL);
}

int cli_bus_session(struct cli_bus *b, const char *id, int *ret_fd)
{
    char path[NM_BUS_PATH_MAX];
    const struct request q = { path, CONTAINER, "OpenSession", NULL, id, false, false, ret_fd };

    if (strlen(id) >= YARN_ID_TEXT_MAX || !sv_has_prefix(id, "container_")) {
        (void)cli_fail("%.80s: not a container: expected container_<time>_...", id);
        return 2;
    }
    (void)nm_bus_path(NM_BUS_CONTAINERS, id, path);
    return call(b, &q, NULL);
}

/* See aux-data.h. */
#include "nodemanager/aux-services/aux-data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "nodemanager/store/state-store.h"
#include "wire/ids.h"

struct record { /* of one service */
    struct record *next;
    char *service;
    uint8_t *bytes;
    size_t n;
};

struct app_records {
    UT_hash_handle hh;
    char app[YARN_ID_TEXT_MAX];
    struct record *list; /* at most one per service */
};

struct nm_aux_data {
    struct nm_store *store;
    struct app_records *apps;
};

struct nm_aux_data *nm_aux_data_new(struct nm_store *store)
{
    struct nm_aux_data *d = calloc(1, sizeof(*d));

    if (d)
        d->store = store;
    return d;
}

static void free_app(struct nm_aux_data *d, struct app_records *a)
{
    while (a->list) {
        struct record *r = a->list;

        a->list = r->next;
        free(r->service);
        free(r->bytes);
        free(r);
    }
    HASH_DEL(d->apps, a);
    free(a);
}

struct nm_aux_data *nm_aux_data_free(struct nm_aux_data *d)
{
    while (d && d->apps)
        free_app(d, d->apps);
    free(d);
    return NULL;
}

static struct app_records *find_app(const struct nm_aux_data *d, const char *app)
{
    struct app_records *a = NULL;

    HASH_FIND_STR(d->apps, app, a);
    return a;
}

static struct record *find(const struct nm_aux_data *d, const char *app, const char *service)
{
    struct app_records *a = find_app(d, app);
    struct record *r = a ? a->list : NULL;

    while (r && strcmp(r->service, service) != 0)
        r = r->next;
    return r;
}

static struct app_records *make_app(struct nm_aux_data *d, const char *app)
{
    struct app_records *a = find_app(d, app);

    if (a || strlen(app) >= sizeof(a->app))
        return a;
    a = calloc(1, sizeof(*a));
    if (a) {
        memcpy(a->app, app, strlen(app) + 1);
        HASH_ADD_STR(d->apps, app, a);
    }
    return a;
}

static struct record *make_record(struct nm_aux_data *d, const char *app, const char *service)
{
    struct app_records *a = make_app(d, app);
    struct record *r = a ? calloc(1, sizeof(*r)) : NULL;

    if (!r)
        return NULL;
    r->service = strdup(service);
    if (!r->service) {
        free(r);
        return NULL;
    }
    r->next = a->list;
    a->list = r;
    return r;
}

/* Changes only memory. */
static int set(struct nm_aux_data *d, const char *app, const char *service, const void *p, size_t n)
{
    struct record *r = find(d, app, service);
    uint8_t *copy;

    if (n > NM_AUX_DATA_MAX)
        return -EMSGSIZE;
    if (r && r->n == n && (n == 0 || memcmp(r->bytes, p, n) == 0))
        return 0;
    copy = malloc(n ? n : 1);
    if (!r && copy)
        r = make_record(d, app, service);
    if (!r || !copy) {
        free(copy);
        return -ENOMEM;
    }
    if (n)
        memcpy(copy, p, n);
    free(r->bytes);
    r->bytes = copy;
    r->n = n;
    return 1;
}

int nm_aux_data_put(struct nm_aux_data *d, const char *app, const char *service, const void *p,
                    size_t n)
{
    int r = set(d, app, service, p, n), stored;

    if (r <= 0)
        return r;
    stored = nm_store_service_data(d->store, app, service, n ? p : "", n);
    return stored < 0 ? stored : 1;
}

const uint8_t *nm_aux_data_get(const struct nm_aux_data *d, const char *app, const char *service,
                               size_t *ret_n)
{
    const struct record *r = find(d, app, service);

    if (!r)
        return NULL;
    *ret_n = r->n;
    return r->bytes;
}

void nm_aux_data_drop(struct nm_aux_data *d, const char *app)
{
    struct app_records *a = find_app(d, app);

    if (a)
        free_app(d, a);
}

static int on_row(const char *app, const char *service, const void *p, size_t n, void *userdata)
{
    int r = set(userdata, app, service, p, n);

    return r == -ENOMEM ? r : 0;
}

int nm_aux_data_recover(struct nm_aux_data *d)
{
    return nm_store_each_service_data(d->store, on_row, d);
}

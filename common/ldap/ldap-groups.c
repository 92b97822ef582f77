/* See ldap-groups.h. A connection is one thread's while it asks, and then waits for the next
 * question. Nothing here logs: it runs on threads. */
#include "common/ldap/ldap-groups.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/ldap/ldap-conf.h"
#include "common/ldap/ldap-filter.h"
#include "common/ldap/ldap-library.h"
#include "common/log.h"
#include "common/str.h"
#include "common/utf8.h"

#define DN_MAX 4096u         /* bytes; a longer one is left out */
#define PARENTS_AT_ONCE 100u /* groups in one question for those that have them */

struct sv_ldap {
    struct sv_ldap_conf conf;
    const struct sv_ldap_library *lib;
    unsigned refs;         /* atomic */
    pthread_mutex_t mutex; /* for what follows */
    LDAP *idle;            /* a connection that nobody uses, or NULL */
    size_t server;         /* of the urls, which answered last */
};

/* Names, each once. */
struct names {
    char **v; /* NULL-terminated once there is one */
    size_t n;
};

/* ---- Names ---- */

static int add_name(struct names *all, const char *p, size_t len)
{
    char **more;

    if (all->n >= SV_GROUPS_PER_USER)
        return 0;
    for (size_t i = 0; i < all->n; i++)
        if (strlen(all->v[i]) == len && memcmp(all->v[i], p, len) == 0)
            return 0;
    more = reallocarray(all->v, all->n + 2, sizeof(*more));
    if (!more)
        return LDAP_NO_MEMORY;
    all->v = more;
    more[all->n] = strndup(p, len);
    if (!more[all->n])
        return LDAP_NO_MEMORY;
    more[++all->n] = NULL;
    return 0;
}

/* A name that an access list can have: text, of some length, without commas. */
static bool is_group_name(const struct berval *v)
{
    size_t len = 0;
    uint32_t c;

    if (v->bv_len == 0 || v->bv_len > SV_GROUPS_NAME_MAX)
        return false;
    for (size_t i = 0; i < v->bv_len; i += len) {
        len = sv_utf8_at(v->bv_val + i, v->bv_len - i, &c);
        if (len == 0 || c < ' ' || c == 0x7f || c == ',')
            return false;
    }
    return true;
}

static void names_free(struct names *all)
{
    sv_strv_free(all->v);
    *all = (struct names){ 0 };
}

/* ---- Connections ---- */

static int set_tls(const struct sv_ldap *l, LDAP *ld)
{
    const int demand = LDAP_OPT_X_TLS_DEMAND, client = 0;
    int r = l->lib->set_option(ld, LDAP_OPT_X_TLS_REQUIRE_CERT, &demand);

    if (r == LDAP_SUCCESS && *l->conf.ca_file)
        r = l->lib->set_option(ld, LDAP_OPT_X_TLS_CACERTFILE, l->conf.ca_file);
    return r == LDAP_SUCCESS ? l->lib->set_option(ld, LDAP_OPT_X_TLS_NEWCTX, &client) : r;
}

static int set_options(const struct sv_ldap *l, LDAP *ld)
{
    const struct timeval connect = { l->conf.connect_ms / 1000, l->conf.connect_ms % 1000 * 1000 };
    const struct timeval read = { l->conf.read_ms / 1000, l->conf.read_ms % 1000 * 1000 };
    const int version = LDAP_VERSION3;
    const struct sv_ldap_library *f = l->lib;
    int r = f->set_option(ld, LDAP_OPT_PROTOCOL_VERSION, &version);

    if (r == LDAP_SUCCESS)
        r = f->set_option(ld, LDAP_OPT_NETWORK_TIMEOUT, &connect);
    if (r == LDAP_SUCCESS)
        r = f->set_option(ld, LDAP_OPT_TIMEOUT, &read);
    if (r == LDAP_SUCCESS) /* a server does not send us, and the password, to another one */
        r = f->set_option(ld, LDAP_OPT_REFERRALS, LDAP_OPT_OFF);
    return r;
}

static int bind_to(const struct sv_ldap *l, LDAP *ld)
{
    struct berval password = { strlen(l->conf.password), l->conf.password };

    return l->lib->sasl_bind_s(ld, *l->conf.bind_user ? l->conf.bind_user : NULL, LDAP_SASL_SIMPLE,
                               &password, NULL, NULL, NULL);
}

static void hang_up(const struct sv_ldap *l, LDAP *ld)
{
    if (ld)
        (void)l->lib->unbind_ext_s(ld, NULL, NULL); /* the connection goes either way, ignoring */
}

static int call(const struct sv_ldap *l, size_t server, LDAP **ret)
{
    LDAP *ld = NULL;
    int r = l->lib->initialize(&ld, l->conf.urls[server]);

    if (r == LDAP_SUCCESS)
        r = set_options(l, ld);
    if (r == LDAP_SUCCESS && strncasecmp(l->conf.urls[server], "ldaps:", 6) == 0)
        r = set_tls(l, ld);
    if (r == LDAP_SUCCESS)
        r = bind_to(l, ld);
    if (r == LDAP_SUCCESS)
        *ret = ld;
    else
        hang_up(l, ld);
    return r;
}

static LDAP *take_idle(struct sv_ldap *l, size_t *ret_server)
{
    LDAP *ld;

    (void)pthread_mutex_lock(&l->mutex);
    ld = l->idle;
    l->idle = NULL;
    *ret_server = l->server;
    (void)pthread_mutex_unlock(&l->mutex);
    return ld;
}

static void give_back(struct sv_ldap *l, LDAP *ld, size_t server)
{
    LDAP *spare = ld;

    (void)pthread_mutex_lock(&l->mutex);
    l->server = server;
    if (!l->idle) {
        l->idle = ld;
        spare = NULL;
    }
    (void)pthread_mutex_unlock(&l->mutex);
    hang_up(l, spare);
}

/* ---- Searches ---- */

static int search(const struct sv_ldap *l, LDAP *ld, const char *base, const char *filter,
                  int size_limit, LDAPMessage **ret)
{
    char *attributes[] = { l->conf.group_name, l->conf.posix_uid, l->conf.posix_gid,
                           *l->conf.member_of ? l->conf.member_of : NULL, NULL };
    struct timeval time = { l->conf.search_ms / 1000, l->conf.search_ms % 1000 * 1000 };
    int r = l->lib->search_ext_s(ld, base, LDAP_SCOPE_SUBTREE, filter, attributes, 0, NULL, NULL,
                                 &time, size_limit, ret);

    return r == LDAP_SIZELIMIT_EXCEEDED && *ret ? LDAP_SUCCESS : r; /* the first ones are there */
}

static int filter_text(struct sv_buf *b)
{
    return sv_buf_put_u8(b, 0) < 0 ? LDAP_FILTER_ERROR : 0;
}

/* Adds the names of the groups found, and their DNs for a search of their parents. */
static int add_groups(const struct sv_ldap *l, LDAP *ld, LDAPMessage *found, struct names *groups,
                      struct names *dns)
{
    int r = 0;

    for (LDAPMessage *e = l->lib->first_entry(ld, found); e && r == 0;
         e = l->lib->next_entry(ld, e)) {
        struct berval **v = l->lib->get_values_len(ld, e, l->conf.group_name);
        char *dn = dns ? l->lib->get_dn(ld, e) : NULL;

        if (v && v[0] && is_group_name(v[0]))
            r = add_name(groups, v[0]->bv_val, v[0]->bv_len);
        if (r == 0 && dn && strlen(dn) <= DN_MAX)
            r = add_name(dns, dn, strlen(dn));
        if (v)
            l->lib->value_free_len(v);
        if (dn)
            l->lib->memfree(dn);
    }
    return r;
}

static int search_groups(const struct sv_ldap *l, LDAP *ld, struct sv_buf *filter,
                         struct names *groups, struct names *dns)
{
    LDAPMessage *found = NULL;
    int r = filter_text(filter);

    if (r == 0)
        r = search(l, ld, l->conf.group_base, (char *)filter->data, SV_GROUPS_PER_USER, &found);
    if (r == LDAP_SUCCESS)
        r = add_groups(l, ld, found, groups, dns);
    if (found)
        l->lib->msgfree(found);
    return r;
}

/* "(&GROUPS(|(member=DN)…))" of dns[from .. from + PARENTS_AT_ONCE). */
static int parents_of(const struct sv_ldap *l, LDAP *ld, const struct names *dns, size_t from,
                      struct names *groups, struct names *next)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(PARENTS_AT_ONCE * (3 * DN_MAX + 300));
    size_t end = SV_MIN(from + PARENTS_AT_ONCE, dns->n);
    int r = sv_buf_put(&b, "(&", 2);

    if (r >= 0)
        r = sv_buf_put(&b, l->conf.group_filter, strlen(l->conf.group_filter));
    if (r >= 0)
        r = sv_buf_put(&b, "(|", 2);
    for (size_t i = from; i < end && r >= 0; i++)
        r = sv_ldap_filter_equals(&b, l->conf.member, dns->v[i]);
    if (r >= 0)
        r = sv_buf_put(&b, "))", 2);
    return r < 0 ? LDAP_FILTER_ERROR : search_groups(l, ld, &b, groups, next);
}

/* Groups of groups. A circle ends, since a level asks for those alone that the one before has
 * found first. */
static int go_up(const struct sv_ldap *l, LDAP *ld, struct names *all_dns, struct names *groups)
{
    size_t asked = 0;
    int r = 0;

    for (int level = 0; level < l->conf.levels && asked < all_dns->n && r == 0; level++) {
        size_t end = all_dns->n;

        for (; asked < end && r == 0; asked += SV_MIN(PARENTS_AT_ONCE, end - asked)) {
            const struct names part = { all_dns->v, end };
            struct names next = { 0 };

            r = parents_of(l, ld, &part, asked, groups, &next);
            for (size_t i = 0; i < next.n && r == 0; i++)
                r = add_name(all_dns, next.v[i], strlen(next.v[i]));
            names_free(&next);
        }
    }
    return r;
}

/* ---- A user ---- */

/* The first value of the attribute, malloc'd; NULL: none. */
static char *value_of(const struct sv_ldap *l, LDAP *ld, LDAPMessage *entry, const char *attribute)
{
    struct berval **v = l->lib->get_values_len(ld, entry, attribute);
    char *ret = v && v[0] && v[0]->bv_len <= DN_MAX ? strndup(v[0]->bv_val, v[0]->bv_len) : NULL;

    if (v)
        l->lib->value_free_len(v);
    return ret;
}

/* The group's name of a DN: its first part, "cn=NAME", must be of the attribute of names. */
static int add_of_dn(const struct sv_ldap *l, const struct berval *dn, struct names *groups)
{
    _cleanup_free_ char *text = dn->bv_len <= DN_MAX ? strndup(dn->bv_val, dn->bv_len) : NULL;
    LDAPDN parts = NULL;
    int r = 0;

    if (!text || l->lib->str2dn(text, &parts, LDAP_DN_FORMAT_LDAPV3) != LDAP_SUCCESS || !parts)
        return 0; /* no group's */
    if (parts[0] && parts[0][0]) {
        const LDAPAVA *a = parts[0][0];

        if (a->la_attr.bv_len == strlen(l->conf.group_name) &&
            strncasecmp(a->la_attr.bv_val, l->conf.group_name, a->la_attr.bv_len) == 0 &&
            is_group_name(&a->la_value))
            r = add_name(groups, a->la_value.bv_val, a->la_value.bv_len);
    }
    l->lib->dnfree(parts);
    return r;
}

static int groups_of_attribute(const struct sv_ldap *l, LDAP *ld, LDAPMessage *user,
                               struct names *groups)
{
    struct berval **v = l->lib->get_values_len(ld, user, l->conf.member_of);
    int r = 0;

    for (struct berval **one = v; one && *one && r == 0; one++)
        r = add_of_dn(l, *one, groups);
    if (v)
        l->lib->value_free_len(v);
    return r;
}

/* "(&GROUPS(|(gidNumber=GID)(member=UID)))" or "(&GROUPS(member=DN))". */
static int groups_filter(const struct sv_ldap *l, LDAP *ld, LDAPMessage *user, struct sv_buf *b)
{
    _cleanup_free_ char *uid = value_of(l, ld, user, l->conf.posix_uid);
    _cleanup_free_ char *gid = value_of(l, ld, user, l->conf.posix_gid);
    char *dn = l->lib->get_dn(ld, user);
    int r = dn ? sv_buf_put(b, "(&", 2) : -ENOMEM;

    if (r >= 0)
        r = sv_buf_put(b, l->conf.group_filter, strlen(l->conf.group_filter));
    if (l->conf.posix && (!uid || !gid))
        r = -ENODATA;
    if (r >= 0 && l->conf.posix)
        r = sv_buf_put(b, "(|", 2);
    if (r >= 0 && l->conf.posix)
        r = sv_ldap_filter_equals(b, l->conf.posix_gid, gid);
    if (r >= 0)
        r = sv_ldap_filter_equals(b, l->conf.member, l->conf.posix ? uid : dn);
    if (r >= 0)
        r = sv_buf_put(b, "))", l->conf.posix ? 2 : 1);
    if (dn)
        l->lib->memfree(dn);
    return r == -ENODATA ? LDAP_NO_SUCH_ATTRIBUTE : r < 0 ? LDAP_FILTER_ERROR : 0;
}

static int groups_of_user(const struct sv_ldap *l, LDAP *ld, LDAPMessage *user,
                          struct names *groups)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SV_LDAP_FILTER_MAX);
    struct names dns = { 0 };
    bool up = l->conf.levels > 0 && !l->conf.posix;
    int r = *l->conf.member_of ? groups_of_attribute(l, ld, user, groups) : 0;

    if (r != 0 || (groups->n > 0 && l->conf.levels == 0))
        return r;
    r = groups_filter(l, ld, user, &b);
    if (r == 0)
        r = search_groups(l, ld, &b, groups, up ? &dns : NULL);
    if (r == 0 && up)
        r = go_up(l, ld, &dns, groups);
    names_free(&dns);
    return r;
}

static int ask(const struct sv_ldap *l, LDAP *ld, const char *user, struct names *groups)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SV_LDAP_FILTER_MAX);
    LDAPMessage *found = NULL, *entry;
    int r =
        sv_ldap_filter_put(&b, l->conf.user_filter, user) < 0 ? LDAP_FILTER_ERROR : filter_text(&b);

    if (r == 0)
        r = search(l, ld, l->conf.user_base, (char *)b.data, 1, &found);
    entry = r == LDAP_SUCCESS ? l->lib->first_entry(ld, found) : NULL;
    if (entry) /* else nobody has that name */
        r = groups_of_user(l, ld, entry, groups);
    if (found)
        l->lib->msgfree(found);
    return r;
}

/* On a thread. A connection that has waited may be dead: that is no attempt. */
static char **names_of(void *data, const char *user, char *why, size_t why_size)
{
    struct sv_ldap *l = data;
    size_t server;
    LDAP *ld = take_idle(l, &server);
    struct names groups = { 0 };
    int r = LDAP_SERVER_DOWN;

    for (int attempt = ld ? 0 : 1, here = 1; attempt <= l->conf.attempts; attempt++) {
        r = ld ? LDAP_SUCCESS : call(l, server, &ld);
        if (r == LDAP_SUCCESS)
            r = ask(l, ld, user, &groups);
        if (r == LDAP_SUCCESS) {
            give_back(l, ld, server);
            return groups.v;
        }
        names_free(&groups);
        hang_up(l, ld);
        ld = NULL;
        if (attempt > 0 && here++ >= l->conf.attempts_at_one) {
            server = (server + 1) % sv_strv_len(l->conf.urls);
            here = 1;
        }
    }
    (void)snprintf(why, why_size, "%s: %s", l->conf.urls[server], l->lib->err2string(r));
    return NULL;
}

/* ---- Its life ---- */

static void *ldap_ref(void *data)
{
    struct sv_ldap *l = data;

    __atomic_add_fetch(&l->refs, 1, __ATOMIC_RELAXED);
    return l;
}

static void ldap_unref(void *data)
{
    struct sv_ldap *l = data;

    if (__atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    hang_up(l, l->idle);
    sv_ldap_conf_free(&l->conf);
    (void)pthread_mutex_destroy(&l->mutex);
    free(l);
}

static void tell(const struct sv_ldap_conf *c)
{
    sv_log_info("groups of users are those of LDAP: %s%s", c->urls[0],
                c->urls[1] ? " and others" : "");
    for (char **u = c->urls; *u; u++)
        if (*c->password && strncasecmp(*u, "ldap:", 5) == 0) {
            sv_log_warning("%s: the password of %s, and all groups, are sent and read in clear: "
                           "use ldaps:",
                           *u, c->bind_user);
            return;
        }
}

int sv_ldap_groups_source(struct sv_conf *c, struct sv_groups_source *ret, struct sv_error *err)
{
    struct sv_ldap_conf conf = { .on = false };
    const struct sv_ldap_library *lib = NULL;
    struct sv_ldap *l = NULL;
    int r = sv_ldap_conf_read(c, &conf, err);

    if (r >= 0 && conf.on)
        r = sv_ldap_library(&lib, err);
    if (r >= 0 && conf.on && !(l = calloc(1, sizeof(*l))))
        r = sv_error_errno(err, -ENOMEM, "groups of LDAP");
    if (r < 0 || !conf.on) {
        sv_ldap_conf_free(&conf);
        *ret = (struct sv_groups_source){ .data = NULL };
        return r;
    }
    l->conf = conf;
    l->lib = lib;
    l->refs = 1;
    (void)pthread_mutex_init(&l->mutex, NULL); /* a plain one always is, ignoring */
    tell(&conf);
    *ret = (struct sv_groups_source){ names_of, ldap_ref, ldap_unref, l };
    return 0;
}

/* See page-kill.h. Hostile: the whole request. */
#include "rm-lite/web/pages/page-kill.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/requests/app-control.h"
#include "rm-lite/security/access.h"
#include "rm-lite/web/rest/web-body.h"

#define MAC 32
#define TOKEN (2 * MAC)

/* The key is this process's: a page from before a restart must be reloaded. */
static int page_key(const uint8_t **ret)
{
    static uint8_t key[MAC];
    static bool made;

    if (!made && getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
        return -EIO;
    made = true;
    *ret = key;
    return 0;
}

static int token_of(const char *user, const struct rm_app *app, char ret[static TOKEN + 1])
{
    char text[SV_AUTH_USER_MAX + YARN_ID_TEXT_MAX + 8];
    uint8_t mac[EVP_MAX_MD_SIZE];
    const uint8_t *key;
    unsigned n = 0;
    int len, r = page_key(&key);

    if (r < 0)
        return r;
    len = snprintf(text, sizeof(text), "kill\n%s\n%s", app->id_str, user);
    if (!HMAC(EVP_sha256(), key, MAC, (const uint8_t *)text, SV_MIN((size_t)len, sizeof(text) - 1),
              mac, &n) ||
        n != MAC)
        return -EIO;
    for (size_t i = 0; i < MAC; i++)
        (void)snprintf(ret + 2 * i, 3, "%02x", mac[i]);
    return 0;
}

/* True if the body is token=TOKEN, alone or among other fields. */
static bool has_token(const struct sv_http_request *req, const char *token)
{
    static const char name[] = "token=";
    const char *p = req->body_len ? req->body : "", *end = p + req->body_len;

    while (p < end) {
        const char *amp = memchr(p, '&', (size_t)(end - p));
        const char *stop = amp ? amp : end;

        if ((size_t)(stop - p) == strlen(name) + TOKEN && memcmp(p, name, strlen(name)) == 0 &&
            CRYPTO_memcmp(p + strlen(name), token, TOKEN) == 0)
            return true;
        p = stop + 1;
    }
    return false;
}

/* Browsers send Origin with a POST, newer ones Sec-Fetch-Site too. */
static bool from_here(const struct sv_http_request *req)
{
    const char *site = sv_http_header(req, "Sec-Fetch-Site");
    const char *origin = sv_http_header(req, "Origin"), *host = sv_http_header(req, "Host");

    if (site && !sv_streq(site, "same-origin"))
        return false;
    if (!origin)
        return true;
    if (sv_has_prefix(origin, "http://"))
        origin += strlen("http://");
    else if (sv_has_prefix(origin, "https://"))
        origin += strlen("https://");
    else
        return false;
    return host && sv_streq(origin, host);
}

static int ask(const struct sv_http_request *req, const struct rm_app *app, const char *token,
               struct sv_http_response *ret)
{
    char path[YARN_ID_TEXT_MAX + 32];
    struct sv_html h;

    rm_page_begin(&h, req, "Kill this application?", RM_PAGE_APPS);
    (void)snprintf(path, sizeof(path), "/cluster/app/%s", app->id_str);
    sv_html(&h, "<p><a");
    sv_html_href(&h, path, NULL);
    sv_html(&h,
            ">%s</a> “%.500s” of %.300s: its master and all of its containers end, and what they "
            "have not stored is lost.</p>\n",
            app->id_str, app->name, app->user);
    sv_html(&h, "<form method=\"post\" action=\"%s/kill", path);
    if (h.user)
        sv_html(&h, "?user.name=%s", h.user);
    sv_html(&h,
            "\"><input type=\"hidden\" name=\"token\" value=\"%s\">"
            "<button class=\"kill\">Kill it</button></form>\n<p>",
            token);
    sv_html_link(&h, path, "Leave it running");
    sv_html(&h, "</p>\n");
    return sv_html_end(&h, 200, ret);
}

static int kill_it(struct rm_app *app, const char *user, const struct sv_http_request *req,
                   struct sv_http_response *ret)
{
    const struct rm_caller by = { .user = user, .target = "RMWebPage" };
    const char *asker = sv_http_query(req, "user.name");
    char to[YARN_ID_TEXT_MAX + SV_AUTH_USER_MAX + 48], id[YARN_ID_TEXT_MAX];
    int r;

    yarn_app_id_text(app->id, id);
    r = rm_control_kill(app, &by, NULL); /* it may be gone then */
    if (r < 0)
        return r;
    /* a name that needs no encoding; others are typed again */
    if (asker && *asker && strlen(asker) < SV_AUTH_USER_MAX &&
        !asker[strspn(asker, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")])
        (void)snprintf(to, sizeof(to), "/cluster/app/%s?user.name=%s", id, asker);
    else
        (void)snprintf(to, sizeof(to), "/cluster/app/%s", id);
    ret->status = 303;
    ret->location = strdup(to);
    return ret->location ? 0 : -ENOMEM;
}

int rm_page_kill(const struct rm_viewer *who, const struct sv_http_request *req, const char *id,
                 struct sv_http_response *ret)
{
    bool post = strcmp(req->method, "POST") == 0;
    char token[TOKEN + 1], user[SV_AUTH_USER_MAX];
    struct yarn_app_id parsed;
    struct rm_app *app;
    int r;

    app = yarn_app_id_parse(id, &parsed) < 0 ? NULL : rm_app_find(who->rm, parsed);
    if (!app)
        return rm_page_refuse(req, 404, ret,
                              "The ResourceManager does not know the application %.100s.", id);
    if (!who->rm->conf.web_put)
        return rm_page_refuse(req, 403, ret,
                              "Changes over HTTP are off on this ResourceManager "
                              "(selvedge.rm.webapp.put.enabled is false, with yarn.acl.enable by "
                              "default); use `selvedge kill %s`.",
                              app->id_str);
    rm_web_caller(who->rm, req, user);
    r = *user ? rm_may_modify(who->rm, app, user) : 0;
    if (r < 0)
        return r;
    if (r == 0)
        return rm_page_refuse(req, 403, ret, "User %s may not kill %s.", user, app->id_str);
    r = token_of(user, app, token);
    if (r < 0)
        return r;
    if (!post)
        return ask(req, app, token, ret);
    if (!from_here(req) || !has_token(req, token))
        return rm_page_refuse(req, 403, ret,
                              "The form is not from this page, or from before a restart of the "
                              "ResourceManager: open the application's page again.");
    return kill_it(app, user, req, ret);
}

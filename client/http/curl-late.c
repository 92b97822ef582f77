/* libcurl for the command line, loaded when curl_global_init() is called: it brings thirty
 * libraries, whose relocation takes longer than all the rest of `selvedge ps`. The functions have
 * libcurl's own names, so that fetch.c and the code of the localizer and of the logs are the same
 * in every program. Before any other, each caller calls curl_global_init(), which fails where there
 * is no libcurl. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

/* Of the headers that this is compiled with; the distributions' packages name it, too
 * (packaging/packages). */
#define SONAME "libcurl.so.4"

/* One row a function: what it returns, its name, its parameters, their names. */
#define FUNCTIONS(F)                                                                               \
    F(CURL *, curl_easy_init, (void), ())                                                          \
    F(CURLcode, curl_easy_perform, (CURL * easy), (easy))                                          \
    F(CURLcode, curl_easy_pause, (CURL * easy, int mask), (easy, mask))                            \
    F(const char *, curl_easy_strerror, (CURLcode code), (code))                                   \
    F(char *, curl_easy_escape, (CURL * easy, const char *text, int n), (easy, text, n))           \
    F(CURLHcode, curl_easy_header,                                                                 \
      (CURL * easy, const char *name, size_t index, unsigned int origin, int request,              \
       struct curl_header **ret),                                                                  \
      (easy, name, index, origin, request, ret))                                                   \
    F(CURLM *, curl_multi_init, (void), ())                                                        \
    F(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL * easy), (multi, easy))               \
    F(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL * easy), (multi, easy))            \
    F(CURLMcode, curl_multi_assign, (CURLM * multi, curl_socket_t fd, void *data),                 \
      (multi, fd, data))                                                                           \
    F(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))                                     \
    F(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))                  \
    F(CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running))              \
    F(CURLMcode, curl_multi_poll,                                                                  \
      (CURLM * multi, struct curl_waitfd * fds, unsigned int n, int ms, int *ready),               \
      (multi, fds, n, ms, ready))                                                                  \
    F(CURLMcode, curl_multi_socket_action,                                                         \
      (CURLM * multi, curl_socket_t fd, int what, int *running), (multi, fd, what, running))       \
    F(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text),        \
      (list, text))

/* The same, without a result. */
#define PROCEDURES(F)                                                                              \
    F(curl_easy_cleanup, (CURL * easy), (easy))                                                    \
    F(curl_easy_reset, (CURL * easy), (easy))                                                      \
    F(curl_slist_free_all, (struct curl_slist * list), (list))                                     \
    F(curl_free, (void *text), (text))

#define POINTER(result, name, parameters, names) __typeof__(&name) name;
#define POINTER_VOID(name, parameters, names) __typeof__(&name) name;

static struct {
    void *library;
    __typeof__(&curl_global_init) global_init;
    __typeof__(&curl_global_cleanup) global_cleanup;
    __typeof__(&curl_easy_setopt) setopt;
    __typeof__(&curl_easy_getinfo) getinfo;
    __typeof__(&curl_multi_setopt) multi_setopt;
    FUNCTIONS(POINTER)
    PROCEDURES(POINTER_VOID)
} curl;

static void find(const char *name, void *ret)
{
    void *function = dlsym(curl.library, name);

    if (!function) { /* another libcurl than this was built for */
        fprintf(stderr, "selvedge: " SONAME " has no %s: a newer libcurl is needed\n", name);
        exit(1);
    }
    *(void **)ret = function; /* POSIX: a function's address fits */
}

#define FIND(result, name, parameters, names) find(#name, &curl.name);
#define FIND_VOID(name, parameters, names) find(#name, &curl.name);

static bool load(void)
{
    if (curl.library)
        return true;
    curl.library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!curl.library) {
        fprintf(stderr, "selvedge: HTTP needs libcurl: %s\n", dlerror());
        return false;
    }
    find("curl_global_init", &curl.global_init);
    find("curl_global_cleanup", &curl.global_cleanup);
    find("curl_easy_setopt", &curl.setopt);
    find("curl_easy_getinfo", &curl.getinfo);
    find("curl_multi_setopt", &curl.multi_setopt);
    FUNCTIONS(FIND)
    PROCEDURES(FIND_VOID)
    return true;
}

CURLcode curl_global_init(long flags)
{
    return load() ? curl.global_init(flags) : CURLE_FAILED_INIT;
}

/* Also where no request was made. */
void curl_global_cleanup(void)
{
    if (curl.library)
        curl.global_cleanup();
}

#define CALL(result, name, parameters, names)                                                      \
    result name parameters                                                                         \
    {                                                                                              \
        return curl.name names;                                                                    \
    }
#define CALL_VOID(name, parameters, names)                                                         \
    void name parameters                                                                           \
    {                                                                                              \
        curl.name names;                                                                           \
    }
FUNCTIONS(CALL)
PROCEDURES(CALL_VOID)

/* Each of them has one argument, a long, a pointer or a curl_off_t: passed alike where these have
 * one size. */
_Static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *), "LP64");
#define CALL_OPTION(result, name, pointer, handle, option)                                         \
    result name(handle *h, option o, ...)                                                          \
    {                                                                                              \
        va_list ap;                                                                                \
        void *value;                                                                               \
                                                                                                   \
        va_start(ap, o);                                                                           \
        value = va_arg(ap, void *);                                                                \
        va_end(ap);                                                                                \
        return curl.pointer(h, o, value);                                                          \
    }
CALL_OPTION(CURLcode, curl_easy_setopt, setopt, CURL, CURLoption)
CALL_OPTION(CURLcode, curl_easy_getinfo, getinfo, CURL, CURLINFO)
CALL_OPTION(CURLMcode, curl_multi_setopt, multi_setopt, CURLM, CURLMoption)

/* See aux-class.h. */
#include "nodemanager/aux-services/aux-class.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "nodemanager/aux-services/aux-conf.h"

/* Arguments of selvedge-java-service, as aux-conf.c writes them. */
enum { CLASS = 1, OWN_PATH, HADOOP_PATH, N_ARGUMENTS };

/* Where `hadoop classpath` leads in Apache's layout. */
static const char *const hadoop_dirs[] = { "common/lib", "common", "hdfs/lib", "hdfs",
                                           "yarn/lib",   "yarn",   "mapreduce" };

/* A jar has the names of its files as they are, in its directory. */
static bool is_in_jar(const char *jar, const char *file)
{
    _cleanup_close_ int fd = open(jar, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    void *text;
    bool found;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return false;
    found = memmem(text, (size_t)st.st_size, file, strlen(file)) != NULL;
    (void)munmap(text, (size_t)st.st_size);
    return found;
}

static bool is_in_jars_of(const char *dir, const char *file)
{
    char pattern[4096];
    glob_t g = { 0 };
    bool found = false;

    (void)snprintf(pattern, sizeof(pattern), "%s/*.[jJ][aA][rR]", dir);
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && !found; i++)
            found = is_in_jar(g.gl_pathv[i], file);
    globfree(&g);
    return found;
}

/* An element of a class path: "dir/ *" without the space is every jar there. */
static bool is_in_element(char *element, const char *file)
{
    size_t n = strlen(element);
    char path[8192];

    if (sv_has_suffix(element, "/*")) {
        element[n - 2] = '\0';
        return is_in_jars_of(element, file);
    }
    (void)snprintf(path, sizeof(path), "%s/%s", element, file);
    return access(path, F_OK) == 0 || is_in_jar(element, file);
}

static bool is_in_path(const char *path, const char *file)
{
    _cleanup_strv_ char **elements = NULL;

    if (sv_strv_split(path, ':', &elements) < 0)
        return true; /* short of memory: nothing is claimed */
    for (char **e = elements; *e; e++)
        if (is_in_element(*e, file))
            return true;
    return false;
}

/* HADOOP_HOME, else what is above the `hadoop` of PATH. False: unknown, the daemon's unit may set
 * another environment. */
static bool find_hadoop(char ret[PATH_MAX])
{
    const char *home = getenv("HADOOP_HOME"), *path = getenv("PATH");
    _cleanup_strv_ char **dirs = NULL;
    char program[PATH_MAX];
    char *slash = NULL;

    if (home && *home)
        return snprintf(ret, PATH_MAX, "%s", home) < PATH_MAX;
    if (sv_strv_split(path ? path : "", ':', &dirs) < 0)
        return false;
    for (char **d = dirs; *d && !slash; d++)
        if (snprintf(program, sizeof(program), "%s/hadoop", *d) < PATH_MAX &&
            access(program, X_OK) == 0 && realpath(program, ret))
            slash = strrchr(ret, '/');
    if (!slash)
        return false;
    *slash = '\0'; /* bin */
    slash = strrchr(ret, '/');
    if (slash)
        *slash = '\0';
    return slash;
}

/* True also where it is unknown. */
static bool is_in_hadoop(const char *path, const char *file)
{
    char home[PATH_MAX], dir[PATH_MAX + 64];

    if (*path)
        return is_in_path(path, file);
    if (!find_hadoop(home))
        return true;
    for (size_t i = 0; i < SV_ARRAY_LEN(hadoop_dirs); i++) {
        (void)snprintf(dir, sizeof(dir), "%s/share/hadoop/%s", home, hadoop_dirs[i]);
        if (access(dir, F_OK) < 0)
            return true; /* another layout */
        if (is_in_jars_of(dir, file))
            return true;
    }
    return false;
}

static bool class_is_found(char *const *argv)
{
    char file[1024];

    (void)snprintf(file, sizeof(file), "%s.class", argv[CLASS]);
    for (char *p = file; p < file + strlen(argv[CLASS]) && p < file + sizeof(file); p++)
        if (*p == '.')
            *p = '/';
    return is_in_path(argv[OWN_PATH], file) || is_in_hadoop(argv[HADOOP_PATH], file);
}

void nm_aux_each_missing(const struct nm_conf *conf, void (*fn)(const char *text, void *userdata),
                         void *userdata)
{
    struct nm_aux_confs all;
    struct sv_error err = { 0 };
    char text[2048];

    if (nm_aux_conf_read(conf, &all, &err) < 0) {
        fn(err.text, userdata);
        return;
    }
    for (size_t i = 0; i < all.n; i++) {
        const struct nm_aux_conf *c = &all.list[i];
        bool java = c->argv && sv_has_suffix(c->argv[0], "/selvedge-java-service") &&
                    sv_strv_len(c->argv) >= N_ARGUMENTS;

        if (c->missing)
            (void)snprintf(text, sizeof(text), "the auxiliary service %s does not run: %s", c->name,
                           c->missing);
        else if (java && !class_is_found(c->argv))
            (void)snprintf(text, sizeof(text),
                           "the auxiliary service %s does not run: its class %s is nowhere in its "
                           "class path; yarn.nodemanager.aux-services.%s.classpath names its jar",
                           c->name, c->argv[CLASS], c->name);
        else
            continue;
        fn(text, userdata);
    }
    nm_aux_conf_free(&all);
}

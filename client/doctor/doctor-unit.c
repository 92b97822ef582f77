/* See doctor-unit.h. */
#include "client/doctor/doctor-unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"

#define SYSTEMD "org.freedesktop.systemd1"
#define SERVICE SYSTEMD ".Service"
#define UNIT SYSTEMD ".Unit"
#define CREDENTIALS_MAX 64

bool cli_doctor_systemd_runs(void)
{
    return access("/run/systemd/system", F_OK) == 0;
}

static void property(sd_bus *bus, const char *path, const char *interface, const char *name,
                     char *buf, size_t size)
{
    char *value = NULL;

    if (sd_bus_get_property_string(bus, SYSTEMD, path, interface, name, NULL, &value) >= 0)
        (void)snprintf(buf, size, "%s", value);
    free(value);
}

bool cli_doctor_unit_load(sd_bus *bus, const char *name, struct doctor_unit *ret)
{
    sd_bus_message *reply = NULL;
    const char *path;

    *ret = (struct doctor_unit){ .delegate = -1 };
    if (sd_bus_call_method(bus, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager",
                           "LoadUnit", NULL, &reply, "s", name) >= 0 &&
        sd_bus_message_read(reply, "o", &path) >= 0) {
        (void)snprintf(ret->path, sizeof(ret->path), "%s", path);
        property(bus, path, UNIT, "LoadState", ret->load, sizeof(ret->load));
        property(bus, path, UNIT, "ActiveState", ret->active, sizeof(ret->active));
        property(bus, path, SERVICE, "User", ret->user, sizeof(ret->user));
        (void)sd_bus_get_property_trivial(bus, SYSTEMD, path, SERVICE, "Delegate", NULL, 'b',
                                          &ret->delegate);
        (void)sd_bus_get_property_trivial(bus, SYSTEMD, path, SERVICE, "NoNewPrivileges", NULL, 'b',
                                          &ret->no_new_privs);
    }
    sd_bus_message_unref(reply);
    return strcmp(ret->load, "loaded") == 0;
}

char **cli_doctor_unit_credentials(sd_bus *bus, const struct doctor_unit *unit)
{
    sd_bus_message *reply = NULL;
    const char *id, *file;
    char **files = NULL;
    size_t n = 0;

    if (sd_bus_get_property(bus, SYSTEMD, unit->path, SERVICE, "LoadCredential", NULL, &reply,
                            "a(ss)") >= 0 &&
        sd_bus_message_enter_container(reply, 'a', "(ss)") >= 0)
        files = calloc(CREDENTIALS_MAX + 1, sizeof(char *));
    while (files && n < CREDENTIALS_MAX && sd_bus_message_read(reply, "(ss)", &id, &file) > 0)
        if ((files[n] = strdup(file)))
            n++;
    sd_bus_message_unref(reply);
    if (n == 0) {
        free(files);
        return NULL;
    }
    return files;
}

/* Returns VALUE of an argument KEY=VALUE; NULL for any other. */
static char *setting(const char *word, const char *key)
{
    size_t n = strlen(key);

    return strncmp(word, key, n) == 0 && word[n] == '=' ? strdup(word + n + 1) : NULL;
}

char *cli_doctor_unit_setting(sd_bus *bus, const struct doctor_unit *unit, const char *key)
{
    sd_bus_message *reply = NULL;
    const char *word;
    bool defines = false;
    char *value = NULL;

    /* The first command: its path, and its words. */
    if (sd_bus_get_property(bus, SYSTEMD, unit->path, SERVICE, "ExecStart", NULL, &reply,
                            "a(sasbttttuii)") >= 0 &&
        sd_bus_message_enter_container(reply, 'a', "(sasbttttuii)") > 0 &&
        sd_bus_message_enter_container(reply, 'r', "sasbttttuii") > 0 &&
        sd_bus_message_read(reply, "s", &word) > 0 &&
        sd_bus_message_enter_container(reply, 'a', "s") > 0)
        while (!value && sd_bus_message_read(reply, "s", &word) > 0) {
            if (defines)
                value = setting(word, key);
            else if (sv_has_prefix(word, "-D"))
                value = setting(word + 2, key);
            defines = sv_streq(word, "-D");
        }
    sd_bus_message_unref(reply);
    return value;
}

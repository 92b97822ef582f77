/* `selvedge doctor`: detects kernel features without loading their modules. Sources: /sys, the
 * lists of the installed modules, else the configuration the kernel was built with. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "client/doctor/doctor.h"
#include "common/str.h"

/* Returns 1 if the list has a line with /MODULE.ko and, if `file`, that file exists; 0; or -1
 * without such a list. */
static int find_in_list(const char *release, const char *list, const char *module, bool file)
{
    char path[512], line[4096], wanted[64], module_path[4608];
    int found = 0;

    (void)snprintf(path, sizeof(path), "/lib/modules/%s/%s", release, list);
    (void)snprintf(wanted, sizeof(wanted), "/%s.ko", module);
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    while (!found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, ":\n")] = '\0'; /* dependencies follow */
        char *at = strstr(line, wanted);
        found = at && (at[strlen(wanted)] == '\0' || at[strlen(wanted)] == '.'); /* .ko.xz */
        (void)snprintf(module_path, sizeof(module_path), "/lib/modules/%s/%s", release, line);
        if (found && file && access(module_path, F_OK) < 0)
            found = 0;
    }
    (void)fclose(f);
    return found;
}

/* Returns the value in the first of these files that exists: 'y', 'm', 'n', or '?' without any. */
static char configured(const char *release, const char *symbol)
{
    static const char *const files[] = { "/proc/config.gz", "/boot/config-%s",
                                         "/lib/modules/%s/config" };
    char path[512], line[512];
    const size_t n = strlen(symbol);

    for (size_t i = 0; i < SV_ARRAY_LEN(files); i++) {
        const char *percent = strchr(files[i], '%');
        (void)snprintf(path, sizeof(path), "%.*s%s%s", (int)strcspn(files[i], "%"), files[i],
                       percent ? release : "", percent ? percent + 2 : "");
        gzFile f = gzopen(path, "re"); /* reads uncompressed files as well */
        if (!f)
            continue;
        char is = 'n';
        while (is == 'n' && gzgets(f, line, sizeof(line)))
            if (strncmp(line, symbol, n) == 0 && line[n] == '=')
                is = line[n + 1] == 'm' ? 'm' : 'y';
        (void)gzclose(f);
        return is;
    }
    return '?';
}

enum doctor_part cli_doctor_kernel_part(const char *module, const char *symbol)
{
    struct utsname u;
    char path[128], value[8];

    (void)snprintf(path, sizeof(path), "/sys/module/%s", module);
    if (access(path, F_OK) == 0)
        return DOCTOR_PART_THERE;
    if (uname(&u) < 0)
        return DOCTOR_PART_UNKNOWN;
    if (find_in_list(u.release, "modules.builtin", module, false) == 1)
        return DOCTOR_PART_THERE;
    const int installed = find_in_list(u.release, "modules.dep", module, true);
    if (installed == 1)
        return strcmp(
                   cli_doctor_read_line("/proc/sys/kernel/modules_disabled", value, sizeof(value)),
                   "1") == 0
                   ? DOCTOR_PART_MISSING
                   : DOCTOR_PART_LOADED_LATER;
    const char is = configured(u.release, symbol);
    return is == 'y'                      ? DOCTOR_PART_THERE
           : is == '?' && installed == -1 ? DOCTOR_PART_UNKNOWN
                                          : DOCTOR_PART_MISSING;
}

/* `selvedge service import-slider`: prints the definition that Slider's files spell. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/input-file.h"
#include "client/core/options.h"
#include "client/service/definition-file.h"
#include "service/definition/slider.h"

#define ARENA_MAX ((size_t)256 << 20)

struct text {
    char *text; /* NULL: there is no such file */
    size_t len;
};

static int print(const struct text files[3], const char *name, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    const struct svc_slider_files slider = { files[0].text, files[0].len,  files[1].text,
                                             files[1].len,  files[2].text, files[2].len };
    _cleanup_free_ char *text = NULL;
    struct svc_definition *d = NULL;
    int r = a ? svc_slider_import(&slider, name, a, &d, err)
              : sv_error_errno(err, -ENOMEM, "definition");

    if (r == 0)
        r = svc_definition_print(d, &text);
    if (r == 0)
        printf("%s\n", text);
    return r;
}

int cli_cmd_service_import_slider(struct cli_ctx *ctx, int argc, char **argv)
{
    struct text files[3] = { 0 };
    struct sv_error err = { 0 };
    const char *name = NULL;
    int c, r = 0;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        name = optarg;
    }
    if (argc - optind < 1 || argc - optind > 3)
        return cli_usage(ctx);
    for (int i = 0; r == 0 && i < argc - optind; i++)
        r = cli_file_read(argv[optind + i], SVC_JSON_MAX, &files[i].text, &files[i].len, &err);
    if (r == 0)
        r = print(files, name, &err);
    for (size_t i = 0; i < 3; i++)
        free(files[i].text);
    if (r >= 0)
        return 0;
    (void)cli_fail("%s", *err.text ? err.text : strerror(-r));
    return 2;
}

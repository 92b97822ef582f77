/* `selvedge doctor`: checks which limits and protections this node can enforce, and prints
 * remedies. Needs no ResourceManager and changes nothing. Run as root or as the NodeManager's
 * account it also queries container-executor. */
#include "client/doctor/doctor.h"

#include "client/core/commands.h"
#include "client/core/options.h"
#include "common/str.h"
#include "nodemanager/conf/conf-unit.h"

static void doctor_free(struct doctor *d)
{
    doctor_findings_free(d);
    sv_strv_free(d->policy.local_dirs);
    sv_strv_free(d->policy.log_dirs);
    sv_strv_free(d->policy.profiles);
    sv_strv_free(d->policy.networks);
    free(d->policy.cgroup_root);
    free(d->policy.user);
    free(d->policy.refused_ports);
    nm_conf_free(&d->conf);
}

int cli_cmd_doctor(struct cli_ctx *ctx, int argc, char **argv)
{
    struct doctor d = { 0 };
    int c, code;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        d.daemon = optarg;
    }
    if (argc != optind)
        return cli_usage(ctx);
    if (cli_check_format(ctx) != 0)
        return 2;
    _cleanup_free_ char *unit = ctx->conf_dir ? NULL : nm_conf_unit_dir(NULL);
    doctor_configuration(&d, ctx->conf_dir ? ctx->conf_dir : unit, ctx->overrides);
    doctor_installed(&d);
    doctor_accounts(&d);
    doctor_helper(&d);
    doctor_connections(&d);
    doctor_files(&d);
    doctor_directories(&d);
    doctor_cgroups(&d);
    doctor_kernel(&d);
    doctor_network(&d);
    doctor_services(&d);
    doctor_uploads(&d);
    code = d.counts[DOCTOR_BAD] ? 2 : d.counts[DOCTOR_WEAK] ? 1 : 0;
    if (ctx->json)
        doctor_print_json(&d, code, &ctx->output);
    else
        doctor_print_text(&d, ctx->verbose);
    doctor_free(&d);
    return code;
}

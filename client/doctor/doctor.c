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
    cli_doctor_findings_free(d);
    sv_strv_free(d->policy.local_dirs);
    sv_strv_free(d->policy.log_dirs);
    sv_strv_free(d->policy.profiles);
    sv_strv_free(d->policy.networks);
    free(d->policy.cgroup_root);
    free(d->policy.user);
    free(d->policy.refused_ports);
    free(d->gss_socket);
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
        if (c == 'u')
            d.daemon = optarg;
        else if (d.n_principals < DOCTOR_PRINCIPALS_MAX)
            d.principals[d.n_principals++] = optarg;
        else {
            (void)cli_fail("doctor: --principal: more than %d", DOCTOR_PRINCIPALS_MAX);
            return 2;
        }
    }
    if (argc != optind)
        return cli_usage(ctx);
    if (cli_check_format(ctx) != 0)
        return 2;
    _cleanup_free_ char *unit = ctx->conf_dir ? NULL : nm_conf_unit_dir(NULL);
    d.of_unit = !ctx->conf_dir;
    cli_doctor_configuration(&d, ctx->conf_dir ? ctx->conf_dir : unit, ctx->overrides);
    cli_doctor_installed(&d);
    cli_doctor_accounts(&d);
    cli_doctor_helper(&d);
    cli_doctor_connections(&d);
    cli_doctor_files(&d);
    cli_doctor_directories(&d);
    cli_doctor_cgroups(&d);
    cli_doctor_kernel(&d);
    cli_doctor_network(&d);
    cli_doctor_services(&d);
    cli_doctor_kerberos(&d);
    cli_doctor_uploads(&d);
    cli_doctor_federation(&d);
    code = d.counts[DOCTOR_BAD] ? 2 : d.counts[DOCTOR_WEAK] ? 1 : 0;
    if (ctx->json)
        cli_doctor_print_json(&d, code, &ctx->output);
    else
        cli_doctor_print_text(&d, ctx->verbose);
    doctor_free(&d);
    return code;
}

/* `selvedge doctor`: a cluster with Kerberos: this node's principal, what else must be switched on
 * so that its tickets are of use, and how data are protected. selvedge-gss looks at keytab and KDC
 * (doctor-gss.c), and doctor-rules.c at principals of users. Files are the operator's. */
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "client/doctor/doctor-gss.h"
#include "client/doctor/doctor-rules.h"
#include "client/doctor/doctor.h"
#include "common/identity/principal.h"
#include "common/str.h"
#include "wire/sasl/qop.h"

#define AREA "Kerberos"
#define RESERVED 1024 /* ports below it are root's */

/* The name that a server finds by this node's address; false: there is none. */
static bool reverse_name(const char *host, char *name, size_t size)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    bool there = getaddrinfo(host, NULL, &hints, &found) == 0 &&
                 getnameinfo(found->ai_addr, found->ai_addrlen, name, (socklen_t)size, NULL, 0,
                             NI_NAMEREQD) == 0;

    if (found)
        freeaddrinfo(found);
    return there;
}

/* Apache's ResourceManager replaces _HOST by the reverse name of the node's address. */
static void check_names(struct doctor *d, const char *host)
{
    char name[NI_MAXHOST], remedy[512];

    if (!reverse_name(host, name, sizeof(name)))
        cli_doctor_report(d, DOCTOR_WEAK, AREA, "an address of it in DNS or /etc/hosts, and back",
                          "%s: no address, or no name for its address: Apache's ResourceManager "
                          "compares the node's principal with that name",
                          host);
    else if (strcasecmp(name, host) != 0) {
        (void)snprintf(remedy, sizeof(remedy),
                       "correct DNS or /etc/hosts, or set yarn.nodemanager.hostname to %.255s",
                       name);
        cli_doctor_report(d, DOCTOR_WEAK, AREA, remedy,
                          "%s: its address has the name %s: Apache's ResourceManager expects a "
                          "principal with that",
                          host, name);
    }
}

static void check_principal(struct doctor *d)
{
    const struct nm_conf_kerberos *k = &d->conf.kerberos;
    const char *configured = sv_conf_raw(d->conf.conf, "yarn.nodemanager.principal");

    if (configured && strstr(configured, "/" SV_PRINCIPAL_HOST)) {
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "this node is %s: _HOST is %s",
                          k->own.principal, k->own.own_host);
        check_names(d, k->own.own_host);
    } else {
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "this node is %s", k->own.principal);
    }
    if (k->own.web_principal)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "its web server is %s", k->own.web_principal);
}

static bool is_true(struct doctor *d, const char *key)
{
    const char *value = sv_conf_raw(d->conf.conf, key);

    return value && strcasecmp(value, "true") == 0;
}

static void check_authorization(struct doctor *d)
{
    if (!is_true(d, "hadoop.security.authorization"))
        cli_doctor_report(d, DOCTOR_WEAK, AREA,
                          "hadoop.security.authorization=true, and accounts in hadoop-policy.xml",
                          "service authorization is off: whoever has a ticket of the realm may "
                          "call each port, and at Apache's ResourceManager become a node");
    else if (d->conf.policy_missing)
        cli_doctor_report(d, DOCTOR_WEAK, AREA, "write it: security.*.protocol.acl",
                          "service authorization is on, and there is no hadoop-policy.xml: it "
                          "admits everybody");
    else
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "service authorization is on");
    if (d->conf.web.auth.acl_enabled)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "yarn.acl.enable is on");
    else
        cli_doctor_report(d, DOCTOR_WEAK, AREA, "yarn.acl.enable=true, names in yarn.admin.acl",
                          "yarn.acl.enable is off: everybody may see and end everybody's "
                          "applications");
}

/* Hadoop's web servers ask for no ticket unless they are told to, however RPC is protected. */
static void check_web(struct doctor *d)
{
    const char *type = sv_conf_raw(d->conf.conf, "hadoop.http.authentication.type");

    if (type && strcasecmp(type, "kerberos") == 0)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "the web server asks who is there");
    else
        cli_doctor_report(d, DOCTOR_WEAK, AREA,
                          "hadoop.http.authentication.type=kerberos, and for Apache's daemons "
                          "hadoop.http.filter.initializers="
                          "org.apache.hadoop.security.AuthenticationFilterInitializer",
                          "the web server is open while RPC is not (StaticUserWebFilter, Hadoop's "
                          "default): whoever reaches port %u is dr.who, or who he says he is; "
                          "selvedge-rm answers reads alone then",
                          d->conf.web_port);
}

static void check_rpc(struct doctor *d)
{
    const uint32_t mask = d->conf.kerberos.own.qop_mask;

    if (mask == IPC_QOP_AUTH)
        cli_doctor_report(d, DOCTOR_NOTE, AREA,
                          "hadoop.rpc.protection=privacy, or privacy,authentication for a time",
                          "hadoop.rpc.protection is authentication: calls can be read and changed "
                          "on the way");
    else
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "hadoop.rpc.protection is %s",
                          ipc_qop_text(mask));
}

static long port_of(const char *address)
{
    const char *colon = address ? strrchr(address, ':') : NULL;

    return colon ? strtol(colon + 1, NULL, 10) : -1;
}

/* A DataNode on a reserved port is believed to be root's; on another one it must know block
 * tokens. */
static void check_transfer(struct doctor *d)
{
    const char *protection = sv_conf_raw(d->conf.conf, "dfs.data.transfer.protection");
    long port = port_of(sv_conf_raw(d->conf.conf, "dfs.datanode.address"));

    if (is_true(d, "dfs.encrypt.data.transfer"))
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "blocks of HDFS are encrypted on the way");
    else if (protection && *protection)
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "dfs.data.transfer.protection is %s",
                          protection);
    else if (port > 0 && port < RESERVED)
        cli_doctor_report(d, DOCTOR_NOTE, AREA, "dfs.data.transfer.protection=privacy",
                          "blocks of HDFS are not protected: DataNodes are known by their port, "
                          "%ld, which is root's",
                          port);
    else
        cli_doctor_report(d, DOCTOR_NOTE, AREA,
                          "the DataNodes' dfs.data.transfer.protection in this node's "
                          "hdfs-site.xml",
                          "dfs.data.transfer.protection is not set: DataNodes that demand it close "
                          "the connection");
}

void cli_doctor_kerberos(struct doctor *d)
{
    if (!d->have_conf)
        return;
    if (!d->conf.kerberos.own.on) {
        if (d->n_principals)
            cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL,
                              "hadoop.security.authentication is simple: no rule is applied, and "
                              "names are what callers say");
        return;
    }
    check_principal(d);
    cli_doctor_gss(d);
    cli_doctor_rules(d);
    check_authorization(d);
    check_web(d);
    check_rpc(d);
    check_transfer(d);
}

import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.CancelDelegationTokenRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetClusterMetricsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetDelegationTokenRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetQueueUserAclsInfoRequest;
import org.apache.hadoop.yarn.api.protocolrecords.RenewDelegationTokenRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Token;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.util.ConverterUtils;

/**
 * Hadoop's client at our server with Kerberos (kerberos-server.c), or at our Router, for tests/interop/test-kerberos. Prints a line for
 * each case, "CASE: " and what the client got, exceptions with all their causes.
 *
 * <p>Usage: KerberosPeer secure SERVER-PRINCIPAL KEYTAB USER USER-WITHOUT-RULE {PORT PROTECTION}... or
 * KerberosPeer simple PORT, or KerberosPeer router SERVER-PRINCIPAL KEYTAB USER PORT.
 */
public final class KerberosPeer {
    private static final int USERS = 20000;
    private static final int CALLS = 400;

    private KerberosPeer() {
    }

    private interface Use {
        String with(ApplicationClientProtocol p) throws Exception;
    }

    private static String why(Throwable e) {
        StringBuilder text = new StringBuilder();
        for (Throwable t = e; t != null; t = t.getCause()) {
            text.append(text.length() > 0 ? " <- " : "").append(t.getClass().getName()).append(": ")
                .append(String.valueOf(t.getMessage()).replace('\n', ' '));
        }
        return text.toString();
    }

    private static void say(String name, UserGroupInformation user, Configuration conf, int port, Use use) {
        String got;
        try {
            got = user.doAs((PrivilegedExceptionAction<String>) () -> use.with(
                (ApplicationClientProtocol) YarnRPC.create(conf).getProxy(ApplicationClientProtocol.class,
                    new InetSocketAddress("127.0.0.1", port), conf)));
        } catch (Exception e) {
            got = why(e);
        }
        System.out.println(name + ": " + got);
    }

    /** The server's exception has the caller in its words. */
    private static String caller(ApplicationClientProtocol p) throws Exception {
        try {
            p.getApplicationReport(GetApplicationReportRequest.newInstance(ApplicationId.newInstance(1, 1)));
        } catch (org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException e) {
            return e.getMessage();
        }
        return "no exception";
    }

    private static String users(ApplicationClientProtocol p) throws Exception {
        Set<String> users = new HashSet<>();
        for (int i = 0; i < USERS; i++) {
            users.add("user-" + i);
        }
        GetApplicationsRequest request = GetApplicationsRequest.newInstance();
        request.setUsers(users);
        try {
            p.getApplications(request);
        } catch (org.apache.hadoop.yarn.exceptions.YarnException e) {
            return e.getMessage();
        }
        return "no exception";
    }

    private static int many(ApplicationClientProtocol p) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(16);
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            results.add(threads.submit(() -> p.getClusterMetrics(GetClusterMetricsRequest.newInstance())
                .getClusterMetrics().getNumNodeManagers()));
        }
        int nodes = 0;
        for (Future<Integer> r : results) {
            nodes += r.get();
        }
        threads.shutdown();
        return nodes;
    }

    private static String everything(ApplicationClientProtocol p) throws Exception {
        return caller(p) + ", " + users(p) + ", "
            + p.getQueueUserAcls(GetQueueUserAclsInfoRequest.newInstance()).getUserAclsInfoList().size() + " queues, "
            + many(p) + " nodes";
    }

    private static Configuration configuration(String authentication, String server, String protection) {
        Configuration conf = new Configuration();
        conf.set("hadoop.security.authentication", authentication);
        conf.set("hadoop.rpc.protection", protection);
        conf.set("yarn.resourcemanager.principal", server);
        conf.setInt("ipc.client.connect.max.retries.on.sasl", 0);
        return conf;
    }

    private static void secure(String[] args) throws Exception {
        String server = args[1];
        String keytab = args[2];
        int port = Integer.parseInt(args[5]);
        Configuration conf = configuration("kerberos", server, args[6]);
        UserGroupInformation.setConfiguration(conf);
        UserGroupInformation user = UserGroupInformation.loginUserFromKeytabAndReturnUGI(args[3], keytab);
        for (int i = 5; i + 1 < args.length; i += 2) {
            say(args[i + 1], user, configuration("kerberos", server, args[i + 1]), Integer.parseInt(args[i]),
                KerberosPeer::everything);
        }
        say("no rule", UserGroupInformation.loginUserFromKeytabAndReturnUGI(args[4], keytab), conf, port,
            KerberosPeer::caller);
        say("proxy", UserGroupInformation.createProxyUser("carol", user), conf, port, KerberosPeer::caller);
        say("own short name", UserGroupInformation.createProxyUser("alice", user), conf, port, KerberosPeer::caller);
        say("no ticket", UserGroupInformation.createRemoteUser("alice"), conf, port, KerberosPeer::caller);
    }

    private static String applications(ApplicationClientProtocol p) throws Exception {
        return p.getApplications(GetApplicationsRequest.newInstance()).getApplicationList().size() + " applications";
    }

    private static String tokenOf(ApplicationClientProtocol p, Token[] ret) throws Exception {
        ret[0] = p.getDelegationToken(GetDelegationTokenRequest.newInstance("yarn")).getRMDelegationToken();
        return ret[0].getKind();
    }

    private static UserGroupInformation holder(String name, Token token, int port) {
        UserGroupInformation holder = UserGroupInformation.createRemoteUser(name);
        holder.addToken(ConverterUtils.convertFromYarn(token, new InetSocketAddress("127.0.0.1", port)));
        return holder;
    }

    /** A user with a ticket, and whoever has its delegation token alone. */
    private static void router(String[] args) throws Exception {
        int port = Integer.parseInt(args[4]);
        Configuration conf = configuration("kerberos", args[1], "privacy");
        UserGroupInformation.setConfiguration(conf);
        UserGroupInformation user = UserGroupInformation.loginUserFromKeytabAndReturnUGI(args[3], args[2]);
        Token[] token = new Token[1];
        say("list", user, conf, port, KerberosPeer::applications);
        say("nodes", user, conf, port, p -> p.getClusterMetrics(GetClusterMetricsRequest.newInstance())
            .getClusterMetrics().getNumNodeManagers() + " nodes");
        say("caller", user, conf, port, KerberosPeer::caller);
        say("token", user, conf, port, p -> tokenOf(p, token));
        say("token alone", holder("holder", token[0], port), conf, port, KerberosPeer::applications);
        say("token for a token", holder("greedy", token[0], port), conf, port, p -> tokenOf(p, new Token[1]));
        say("renewed by its owner", user, conf, port,
            p -> "" + p.renewDelegationToken(RenewDelegationTokenRequest.newInstance(token[0])).getNextExpirationTime());
        say("cancelled", user, conf, port,
            p -> "" + p.cancelDelegationToken(CancelDelegationTokenRequest.newInstance(token[0])).getClass());
        say("a cancelled one", holder("late", token[0], port), conf, port, KerberosPeer::applications);
        say("no ticket", UserGroupInformation.createRemoteUser("alice"), conf, port, KerberosPeer::applications);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("secure")) {
            secure(args);
        } else if (args[0].equals("router")) {
            router(args);
        } else {
            say("simple", UserGroupInformation.createRemoteUser("alice"), configuration("simple", "", "authentication"),
                Integer.parseInt(args[1]), KerberosPeer::caller);
        }
        System.exit(0);
    }
}

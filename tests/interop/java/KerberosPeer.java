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
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetClusterMetricsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetQueueUserAclsInfoRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.ipc.YarnRPC;

/**
 * Hadoop's client at our server with Kerberos (kerberos-server.c), for tests/interop/test-kerberos. Prints a line for
 * each case, "CASE: " and what the client got, exceptions with all their causes.
 *
 * <p>Usage: KerberosPeer secure SERVER-PRINCIPAL KEYTAB USER USER-WITHOUT-RULE {PORT PROTECTION}... or
 * KerberosPeer simple PORT.
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

    public static void main(String[] args) throws Exception {
        if (args[0].equals("secure")) {
            secure(args);
        } else {
            say("simple", UserGroupInformation.createRemoteUser("alice"), configuration("simple", "", "authentication"),
                Integer.parseInt(args[1]), KerberosPeer::caller);
        }
        System.exit(0);
    }
}

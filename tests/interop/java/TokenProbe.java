import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.PrivilegedExceptionAction;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainerRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StartContainersResponse;
import org.apache.hadoop.yarn.api.protocolrecords.StopContainersRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StopContainersResponse;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.SerializedException;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.ContainerTokenIdentifier;

/**
 * Presents good, damaged, expired and foreign tokens to a NodeManager and a ResourceManager with
 * Hadoop's own client classes, and prints for each case what the client got: "CASE TAB class TAB
 * message", class being "-" when the call succeeded.
 *
 * <p>Two applications (TokenMaster) send their tokens over a loopback socket. Usage: TokenProbe CLASSPATH.
 */
public final class TokenProbe {
    private final Configuration conf = new YarnConfiguration();
    private final YarnClient yarn = YarnClient.createYarnClient();
    private final YarnRPC rpc;
    private final String classPath;

    private TokenProbe(String classPath) {
        this.classPath = classPath;
        conf.setInt("ipc.client.connect.max.retries", 1);
        conf.setInt("ipc.client.connection.maxidletime", 1); /* a new connection for every case */
        rpc = YarnRPC.create(conf);
    }

    public static void main(String[] args) throws Exception {
        new TokenProbe(args[0]).run();
    }

    /* ---- applications whose tokens are used ---- */

    private static final class Master implements AutoCloseable {
        ApplicationId app;
        Socket socket;
        BufferedReader in;
        PrintWriter out;
        ContainerId masterContainer;
        Token<TokenIdentifier> amrm;

        Grant grant() throws Exception {
            out.println("CONTAINER");
            return new Grant(in.readLine().split(" "));
        }

        void end() throws Exception {
            out.println("END");
            in.readLine();
        }

        @Override
        public void close() throws Exception {
            socket.close();
        }
    }

    private static final class Grant {
        final ContainerId id;
        final InetSocketAddress node;
        final Token<TokenIdentifier> container;
        final Token<TokenIdentifier> nm;

        Grant(String[] words) throws Exception {
            id = ContainerId.fromString(words[0]);
            node = NetUtils.createSocketAddr(words[1]);
            container = decode(words[2]);
            nm = decode(words[3]);
        }
    }

    private static Token<TokenIdentifier> decode(String text) throws Exception {
        Token<TokenIdentifier> token = new Token<>();
        token.decodeFromUrlString(text);
        return token;
    }

    private Master submit() throws Exception {
        Master m = new Master();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            listener.setSoTimeout(120_000);
            YarnClientApplication app = yarn.createApplication();
            ApplicationSubmissionContext context = app.getApplicationSubmissionContext();
            Map<String, String> env = new HashMap<>();
            env.put("CLASSPATH", classPath);
            ContainerLaunchContext launch = ContainerLaunchContext.newInstance(null, env, Collections.singletonList(
                    "{{JAVA_HOME}}/bin/java --add-opens java.base/java.lang=ALL-UNNAMED -Xmx128m TokenMaster "
                    + listener.getLocalPort() + " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"), null, null, null);
            context.setApplicationName("token-master");
            context.setMaxAppAttempts(1);
            context.setAMContainerSpec(launch);
            context.setResource(Resource.newInstance(256, 1));
            m.app = yarn.submitApplication(context);
            m.socket = listener.accept();
        }
        m.in = new BufferedReader(new InputStreamReader(m.socket.getInputStream()));
        m.out = new PrintWriter(m.socket.getOutputStream(), true);
        String[] words = m.in.readLine().split(" ");
        m.masterContainer = ContainerId.fromString(words[0]);
        m.amrm = decode(words[1]);
        return m;
    }

    /* ---- damage ---- */

    private static Token<TokenIdentifier> token(Token<TokenIdentifier> t, byte[] id, byte[] password) {
        return new Token<>(id, password, t.getKind(), t.getService());
    }

    private static Token<TokenIdentifier> wrongPassword(Token<TokenIdentifier> t) {
        byte[] password = t.getPassword().clone();
        password[0] ^= 1;
        return token(t, t.getIdentifier(), password);
    }

    private static Token<TokenIdentifier> truncated(Token<TokenIdentifier> t) {
        return token(t, Arrays.copyOf(t.getIdentifier(), t.getIdentifier().length - 3), t.getPassword());
    }

    /** Still well formed: changes the application's number in the first, innermost message. */
    private static Token<TokenIdentifier> altered(Token<TokenIdentifier> t) {
        byte[] id = t.getIdentifier().clone();
        int at = 0;
        while (id[at] != 0x08) { /* field 1, a number; before it only heads of sub-messages */
            at += 2;
        }
        id[at + 1] ^= 0x40;
        return token(t, id, t.getPassword());
    }

    private static Token<TokenIdentifier> empty(Token<TokenIdentifier> t) {
        return token(t, new byte[0], t.getPassword());
    }

    /* ---- calls ---- */

    private interface Call<P> {
        void on(P protocol) throws Exception;
    }

    private <P> void probe(String name, Class<P> type, InetSocketAddress address, Token<TokenIdentifier> token,
            Call<P> call) throws Exception {
        UserGroupInformation ugi = UserGroupInformation.createRemoteUser("probe-" + name.replace(' ', '-'));
        if (token != null) {
            Token<TokenIdentifier> mine = token(token, token.getIdentifier(), token.getPassword());
            SecurityUtil.setTokenService(mine, address);
            ugi.addToken(mine);
        }
        try {
            ugi.doAs((PrivilegedExceptionAction<Void>) () -> {
                P protocol = type.cast(rpc.getProxy(type, address, conf));
                try {
                    call.on(protocol);
                } finally {
                    rpc.stopProxy(protocol, conf);
                }
                return null;
            });
            System.out.println(name + "\t-\t");
        } catch (Throwable e) {
            Throwable t = e instanceof java.lang.reflect.UndeclaredThrowableException ? e.getCause() : e;
            System.out.println(name + "\t" + t.getClass().getName() + "\t"
                    + String.valueOf(t.getMessage()).trim().replaceAll("\\s*\n\\s*", " | "));
        }
    }

    private static void failed(Map<ContainerId, SerializedException> failures) throws Throwable {
        for (SerializedException e : failures.values()) {
            throw e.deSerialize();
        }
    }

    private static void rethrow(Map<ContainerId, SerializedException> failures) throws Exception {
        try {
            failed(failures);
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private void start(String name, Grant g, Token<TokenIdentifier> nm, Token<TokenIdentifier> container)
            throws Exception {
        ContainerLaunchContext launch = ContainerLaunchContext.newInstance(null, null,
                Collections.singletonList("exec sleep 1000"), null, null, null);
        org.apache.hadoop.yarn.api.records.Token record = org.apache.hadoop.yarn.api.records.Token.newInstance(
                container.getIdentifier(), container.getKind().toString(), container.getPassword(),
                container.getService().toString());
        probe(name, ContainerManagementProtocol.class, g.node, nm, protocol -> {
            StartContainersResponse answer = protocol.startContainers(StartContainersRequest.newInstance(
                    Collections.singletonList(StartContainerRequest.newInstance(launch, record))));
            rethrow(answer.getFailedRequests());
        });
    }

    private void status(String name, Grant g, Token<TokenIdentifier> nm) throws Exception {
        probe(name, ContainerManagementProtocol.class, g.node, nm, protocol -> {
            GetContainerStatusesResponse answer = protocol.getContainerStatuses(
                    GetContainerStatusesRequest.newInstance(Collections.singletonList(g.id)));
            rethrow(answer.getFailedRequests());
        });
    }

    private void stop(String name, Grant g, Token<TokenIdentifier> nm) throws Exception {
        probe(name, ContainerManagementProtocol.class, g.node, nm, protocol -> {
            StopContainersResponse answer = protocol.stopContainers(
                    StopContainersRequest.newInstance(Collections.singletonList(g.id)));
            rethrow(answer.getFailedRequests());
        });
    }

    private void allocate(String name, Token<TokenIdentifier> amrm) throws Exception {
        probe(name, ApplicationMasterProtocol.class, scheduler(), amrm,
                protocol -> protocol.allocate(AllocateRequest.newInstance(1000, 0.5f, null, null, null)));
    }

    private void register(String name, Token<TokenIdentifier> amrm) throws Exception {
        probe(name, ApplicationMasterProtocol.class, scheduler(), amrm,
                protocol -> protocol.registerApplicationMaster(RegisterApplicationMasterRequest.newInstance("localhost", 0, "")));
    }

    private InetSocketAddress scheduler() {
        return conf.getSocketAddr(YarnConfiguration.RM_SCHEDULER_ADDRESS, YarnConfiguration.DEFAULT_RM_SCHEDULER_ADDRESS,
                YarnConfiguration.DEFAULT_RM_SCHEDULER_PORT);
    }

    /* ---- cases ---- */

    private void run() throws Exception {
        yarn.init(conf);
        yarn.start();
        try (Master a = submit(); Master b = submit()) {
            Grant late = a.grant(); /* its token expires while the other cases run */
            nodeManager(a, b);
            resourceManager(a, b);
            expired(late);
            Grant last = a.grant();
            a.end();
            awaitEnd(a);
            start("nm: token of an ended application", last, last.nm, last.container);
            allocate("rm: token of an ended application", a.amrm);
            b.end();
            awaitEnd(b);
        }
        yarn.stop();
    }

    private void nodeManager(Master a, Master b) throws Exception {
        Grant g = a.grant();
        Grant other = b.grant();
        start("nm: no token", g, null, g.container);
        start("nm: wrong password", g, wrongPassword(g.nm), g.container);
        start("nm: truncated identifier", g, truncated(g.nm), g.container);
        start("nm: altered identifier", g, altered(g.nm), g.container);
        start("nm: empty identifier", g, empty(g.nm), g.container);
        start("nm: another application's token", g, other.nm, g.container);
        start("nm: a container token instead", g, token(g.nm, g.container.getIdentifier(), g.container.getPassword()),
                g.container);
        start("container: wrong password", g, g.nm, wrongPassword(g.container));
        start("container: truncated identifier", g, g.nm, truncated(g.container));
        start("container: altered identifier", g, g.nm, altered(g.container));
        start("container: empty identifier", g, g.nm, empty(g.container));
        start("container: another application's token", g, g.nm, other.container);
        g = a.grant();
        start("container: good", g, g.nm, g.container);
        start("container: the same token again", g, g.nm, g.container);
        status("status: own container", g, g.nm);
        status("status: another application's container", g, other.nm);
        stop("stop: another application's container", g, other.nm);
        status("status: still there", g, g.nm);
        stop("stop: own container", g, g.nm);
        awaitComplete(g);
        start("container: the token of a completed container", g, g.nm, g.container);
    }

    private void expired(Grant late) throws Exception {
        ContainerTokenIdentifier id = new ContainerTokenIdentifier();
        id.readFields(new java.io.DataInputStream(new java.io.ByteArrayInputStream(late.container.getIdentifier())));
        while (System.currentTimeMillis() <= id.getExpiryTimeStamp()) {
            Thread.sleep(50);
        }
        start("container: expired", late, late.nm, late.container);
    }

    private void resourceManager(Master a, Master b) throws Exception {
        allocate("rm: no token", null);
        allocate("rm: wrong password", wrongPassword(a.amrm));
        allocate("rm: truncated identifier", truncated(a.amrm));
        allocate("rm: altered identifier", altered(a.amrm));
        allocate("rm: empty identifier", empty(a.amrm));
        Grant g = b.grant();
        allocate("rm: an NMToken instead", token(a.amrm, g.nm.getIdentifier(), g.nm.getPassword()));
        register("rm: registered twice", a.amrm);
        allocate("rm: a wrong response id", a.amrm);
    }

    private void awaitComplete(Grant g) throws Exception {
        UserGroupInformation ugi = UserGroupInformation.createRemoteUser("waiter");
        Token<TokenIdentifier> mine = token(g.nm, g.nm.getIdentifier(), g.nm.getPassword());
        SecurityUtil.setTokenService(mine, g.node);
        ugi.addToken(mine);
        ugi.doAs((PrivilegedExceptionAction<Void>) () -> {
            ContainerManagementProtocol protocol =
                    (ContainerManagementProtocol) rpc.getProxy(ContainerManagementProtocol.class, g.node, conf);
            while (true) {
                List<ContainerStatus> all = protocol.getContainerStatuses(
                        GetContainerStatusesRequest.newInstance(Collections.singletonList(g.id))).getContainerStatuses();
                if (all.isEmpty() || all.get(0).getState() == ContainerState.COMPLETE) {
                    rpc.stopProxy(protocol, conf);
                    return null;
                }
                Thread.sleep(50);
            }
        });
    }

    private void awaitEnd(Master m) throws Exception {
        while (yarn.getApplicationReport(m.app).getYarnApplicationState() != YarnApplicationState.FINISHED) {
            Thread.sleep(100);
        }
    }
}

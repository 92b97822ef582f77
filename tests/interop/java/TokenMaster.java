import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;

import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.NMTokenCache;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.util.ConverterUtils;

/**
 * An ApplicationMaster that sends its tokens to TokenProbe and executes its commands, one a line:
 * CONTAINER answers "container-id host:port container-token nm-token", END answers ENDED.
 */
public final class TokenMaster {
    private final AMRMClient<ContainerRequest> rm = AMRMClient.createAMRMClient();

    private TokenMaster() {
    }

    public static void main(String[] args) throws Exception {
        new TokenMaster().serve(Integer.parseInt(args[0]));
    }

    private void serve(int port) throws Exception {
        NMTokenCache cache = new NMTokenCache();
        rm.setNMTokenCache(cache);
        rm.init(new YarnConfiguration());
        rm.start();
        rm.registerApplicationMaster("localhost", 0, "");
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                PrintWriter out = new PrintWriter(socket.getOutputStream(), true)) {
            out.println(System.getenv("CONTAINER_ID") + " " + amrmToken().encodeToUrlString());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("END")) {
                    rm.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "ended by TokenProbe", "");
                    out.println("ENDED");
                    break;
                }
                Container c = allocate();
                String node = c.getNodeId().toString();
                out.println(c.getId() + " " + node + " " + encode(c.getContainerToken()) + " "
                        + encode(cache.getToken(node)));
            }
        }
        rm.stop();
    }

    private static String encode(org.apache.hadoop.yarn.api.records.Token t) throws Exception {
        return ConverterUtils.<TokenIdentifier>convertFromYarn(t, (Text) null).encodeToUrlString();
    }

    private static Token<?> amrmToken() throws Exception {
        for (Token<?> token : UserGroupInformation.getLoginUser().getTokens()) {
            if (token.getKind().toString().equals("YARN_AM_RM_TOKEN")) {
                return token;
            }
        }
        throw new IllegalStateException("no YARN_AM_RM_TOKEN among the container's credentials");
    }

    private Container allocate() throws Exception {
        ContainerRequest ask = new ContainerRequest(Resource.newInstance(64, 1), null, null, Priority.newInstance(1));
        rm.addContainerRequest(ask);
        while (true) {
            AllocateResponse answer = rm.allocate(0.5f);
            List<Container> got = answer.getAllocatedContainers();
            if (!got.isEmpty()) {
                rm.removeContainerRequest(ask);
                for (Container more : got.subList(1, got.size())) {
                    rm.releaseAssignedContainer(more.getId());
                }
                return got.get(0);
            }
            Thread.sleep(100); /* the pace of heartbeats */
        }
    }
}

import java.io.File;
import java.security.PrivilegedExceptionAction;
import java.util.Collections;
import java.util.HashMap;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.client.api.AMRMClient;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * NodeCount FILE: an ApplicationMaster that prints "count TAB N" for each answer to allocate, what AMRMClient then tells of the
 * cluster's nodes, until FILE exists; then "end". Driven by tests/interop/cases/node_count.py.
 */
public final class NodeCount {
  private final YarnConfiguration conf = new YarnConfiguration();
  private final YarnClient yarn = YarnClient.createYarnClient();

  private NodeCount() {
    // The client retries an unreachable ResourceManager soon.
    conf.setLong("yarn.resourcemanager.connect.retry-interval.ms", 100);
    conf.setInt("ipc.client.connect.max.retries", 0);
  }

  private ApplicationId submit() throws Exception {
    ApplicationSubmissionContext c = yarn.createApplication().getApplicationSubmissionContext();
    c.setApplicationName("counts nodes");
    c.setQueue("default");
    c.setMaxAppAttempts(1);
    c.setUnmanagedAM(true);
    c.setResource(Resource.newInstance(64, 1));
    c.setAMContainerSpec(ContainerLaunchContext.newInstance(new HashMap<>(), new HashMap<>(), Collections.emptyList(),
        new HashMap<>(), null, new HashMap<>()));
    yarn.submitApplication(c);
    return c.getApplicationId();
  }

  private boolean launched(ApplicationId id) throws Exception {
    return !yarn.getApplicationAttempts(id).isEmpty() && yarn.getApplicationAttempts(id).get(0)
        .getYarnApplicationAttemptState() == YarnApplicationAttemptState.LAUNCHED;
  }

  private Void count(File end) throws Exception {
    AMRMClient<AMRMClient.ContainerRequest> rm = AMRMClient.createAMRMClient();
    rm.init(conf);
    rm.start();
    rm.registerApplicationMaster("localhost", 0, "");
    while (!end.exists()) {
      rm.allocate(0.5f);
      System.out.println("count\t" + rm.getClusterNodeCount());
      Thread.sleep(50); // the pace of heartbeats
    }
    rm.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", "");
    rm.stop();
    return null;
  }

  public static void main(String[] args) throws Exception {
    NodeCount n = new NodeCount();
    n.yarn.init(n.conf);
    n.yarn.start();
    ApplicationId id = n.submit();
    while (!n.launched(id)) {
      Thread.sleep(50);
    }
    Token<?> token = n.yarn.getAMRMToken(id);
    token.setService(ClientRMProxy.getAMRMTokenService(n.conf)); // as of a container's environment
    UserGroupInformation master = UserGroupInformation.createRemoteUser(
        n.yarn.getApplicationAttempts(id).get(0).getApplicationAttemptId().toString());
    master.addToken(token);
    master.doAs((PrivilegedExceptionAction<Void>) () -> n.count(new File(args[0])));
    n.yarn.stop();
    System.out.println("end");
    System.exit(0);
  }
}

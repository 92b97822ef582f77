import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Kills applications at random moments of their lives, eight at a time, and waits for the end of each:
 * KillStorm COUNT SEED. Prints "MOMENT TAB STATE TAB how many"; driven by tests/interop/cases/kills.py.
 */
public final class KillStorm {
  private static final String[] MOMENTS = {"submitted", "accepted", "launched", "running", "ending"};
  private static final long LIMIT_MS = 120000;
  private final YarnClient yarn = YarnClient.createYarnClient();

  private KillStorm() {
  }

  private ApplicationId submit(String command) throws Exception {
    ApplicationSubmissionContext c = yarn.createApplication().getApplicationSubmissionContext();
    c.setApplicationName("to be killed");
    c.setQueue("default");
    c.setMaxAppAttempts(1);
    c.setResource(Resource.newInstance(256, 1));
    c.setAMContainerSpec(ContainerLaunchContext.newInstance(new HashMap<>(), new HashMap<>(),
        Collections.singletonList(command), new HashMap<>(), (ByteBuffer) null, new HashMap<>()));
    yarn.submitApplication(c); // ends when it is ACCEPTED, or later
    return c.getApplicationId();
  }

  private boolean launched(ApplicationId id) throws Exception {
    return !yarn.getApplicationAttempts(id).isEmpty() && yarn.getApplicationAttempts(id).get(0)
        .getYarnApplicationAttemptState() == YarnApplicationAttemptState.LAUNCHED;
  }

  private String one(int moment, Random random) throws Exception {
    // An ApplicationMaster that exits before the kill has FAILED: it never registered.
    ApplicationId id = submit(moment == 4 ? "sleep 0." + (1 + random.nextInt(9)) : "exec sleep 600");
    long end = System.currentTimeMillis() + LIMIT_MS;
    if (moment == 1) {
      Thread.sleep(random.nextInt(300));
    } else if (moment > 1) {
      while (!launched(id) && yarn.getApplicationReport(id).getFinishTime() == 0) {
        if (System.currentTimeMillis() > end) {
          return id + ": no attempt is launched";
        }
        Thread.sleep(5); // the interval of a poll
      }
      Thread.sleep(moment == 2 ? 0 : random.nextInt(1000));
    }
    yarn.killApplication(id);
    for (;;) {
      ApplicationReport r = yarn.getApplicationReport(id);
      if (r.getFinishTime() > 0 && r.getFinalApplicationStatus() != FinalApplicationStatus.UNDEFINED) {
        return r.getYarnApplicationState().toString();
      }
      if (System.currentTimeMillis() > end) {
        return id + ": " + r.getYarnApplicationState();
      }
      Thread.sleep(20);
    }
  }

  public static void main(String[] args) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    conf.setInt("yarn.client.application-client-protocol.poll-interval-ms", 20);
    KillStorm storm = new KillStorm();
    storm.yarn.init(conf);
    storm.yarn.start();
    ExecutorService workers = Executors.newFixedThreadPool(8);
    Random random = new Random(Long.parseLong(args[1]));
    List<Future<String>> ends = new ArrayList<>();
    int count = Integer.parseInt(args[0]);
    for (int i = 0; i < count; i++) {
      int moment = i % MOMENTS.length;
      Random own = new Random(random.nextLong());
      ends.add(workers.submit(() -> MOMENTS[moment] + "\t" + storm.one(moment, own)));
    }
    TreeMap<String, Integer> found = new TreeMap<>();
    for (Future<String> f : ends) {
      found.merge(f.get(), 1, Integer::sum);
    }
    workers.shutdown();
    storm.yarn.stop();
    found.forEach((what, n) -> System.out.println("end\t" + what + "\t" + n));
    System.exit(0);
  }
}

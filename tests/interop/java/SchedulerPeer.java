// Apache's ResourceManager for tests/interop/record-scheduler: one after the other in one JVM, and with
// scheduler events handled where they arrive, so that "settle" can wait until nothing is left to do.
//
//   SchedulerPeer    reads lines: "start", or "pages" with the web pages, "settle", "stop"; answers each with a line
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.event.AbstractEvent;
import org.apache.hadoop.yarn.event.AsyncDispatcher;
import org.apache.hadoop.yarn.event.Dispatcher;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.server.resourcemanager.ClusterMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;

public final class SchedulerPeer {
  enum Mark { MARK }

  static final class MarkEvent extends AbstractEvent<Mark> {
    final CountDownLatch reached = new CountDownLatch(1);

    MarkEvent() {
      super(Mark.MARK);
    }
  }

  static final class Rm extends ResourceManager {
    private final boolean pages;
    private AsyncDispatcher events;

    Rm(boolean pages) {
      this.pages = pages;
    }

    @Override
    protected Dispatcher createDispatcher() {
      events = new AsyncDispatcher();
      events.register(Mark.class, new EventHandler<MarkEvent>() {
        @Override
        public void handle(MarkEvent event) {
          event.reached.countDown();
        }
      });
      return events;
    }

    @Override
    protected EventHandler<SchedulerEvent> createSchedulerEventDispatcher() {
      return new EventHandler<SchedulerEvent>() {
        @Override
        public void handle(SchedulerEvent event) {
          scheduler.handle(event);
        }
      };
    }

    @Override
    protected void startWepApp() {
      if (pages) {
        super.startWepApp();
      }
    }

    // An event may lead to another: as many turns as the longest chain has, and more.
    @SuppressWarnings("unchecked")
    void settle() throws Exception {
      for (int i = 0; i < 20; i++) {
        MarkEvent mark = new MarkEvent();

        events.getEventHandler().handle(mark);
        if (!mark.reached.await(60, TimeUnit.SECONDS)) {
          throw new IllegalStateException("the events of the ResourceManager do not end");
        }
      }
    }
  }

  private SchedulerPeer() {
  }

  /** Not public in Hadoop 2. */
  private static void destroyClusterMetrics() throws ReflectiveOperationException {
    Method destroy = ClusterMetrics.class.getDeclaredMethod("destroy");

    destroy.setAccessible(true);
    destroy.invoke(null);
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    Rm rm = null;

    DefaultMetricsSystem.setMiniClusterMode(true);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("start") || line.equals("pages")) {
        QueueMetrics.clearQueueMetrics();
        destroyClusterMetrics();
        rm = new Rm(line.equals("pages"));
        rm.init(new YarnConfiguration());
        rm.start();
      } else if (line.equals("settle")) {
        rm.settle();
      } else if (line.equals("stop")) {
        rm.stop();
      }
      System.out.println("done " + line);
      System.out.flush();
    }
    System.exit(0);
  }
}

import com.sun.jersey.api.client.Client;
import com.sun.jersey.api.client.WebResource;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.slider.api.types.ApplicationLivenessInformation;
import org.apache.slider.api.types.ComponentInformation;
import org.apache.slider.api.types.ContainerInformation;
import org.apache.slider.api.types.NodeInformation;
import org.apache.slider.client.rest.SliderApplicationApiRestClient;
import org.apache.slider.core.conf.ConfTreeOperations;
import org.apache.slider.core.restclient.UgiJerseyBinding;

/**
 * Slider's own REST client at a master: SliderPeer URL USER read|flex|ping|stop [COMPONENT COUNT]. Prints
 * a line for each thing that it has read.
 */
public final class SliderPeer {
  private static final String INSTANCES = "yarn.component.instances";

  private final SliderApplicationApiRestClient api;

  private SliderPeer(String url, String user) {
    Client client = new UgiJerseyBinding(new Configuration()).createJerseyClient();
    WebResource root = client.resource(url).queryParam("user.name", user);
    api = new SliderApplicationApiRestClient(client, root.path("/ws/v1/slider/application"));
  }

  public static void main(String[] args) throws Exception {
    SliderPeer peer = new SliderPeer(args[0], args[1]);
    switch (args[2]) {
      case "read":
        peer.read();
        break;
      case "flex":
        peer.flex(args[3], Integer.parseInt(args[4]));
        break;
      case "ping":
        say("ping", peer.api.ping("hello").verb + " " + peer.api.pingPut("hello").verb);
        break;
      default:
        peer.api.stop("stopped by a client of Slider's");
        say("stopped", "");
    }
  }

  private static void say(String what, Object is) {
    System.out.println(what + " " + is);
  }

  private void read() throws Exception {
    say("name", api.getDesiredModel().getName());
    say("resolved name", api.getResolvedModel().getName());
    ConfTreeOperations desired = api.getDesiredResources();
    for (String name : desired.getComponentNames()) {
      say("desired " + name, desired.getComponentOpt(name, INSTANCES, "none"));
    }
    say("resolved", api.getResolvedResources().getComponentNames().size());
    say("appconf", api.getDesiredAppconf().getComponentNames().size());
    say("resolved appconf", api.getResolvedAppconf().getComponentNames().size());
    ConfTreeOperations live = api.getLiveResources();
    say("live master", live.getComponentOpt("slider-appmaster", INSTANCES + ".actual", "none"));
    for (ComponentInformation c : api.enumComponents().values()) {
      ComponentInformation one = api.getComponent(c.name);
      say("component " + c.name, one.desired + " " + one.actual + " " + one.containers.size());
    }
    for (ContainerInformation c : api.enumContainers().values()) {
      ContainerInformation one = api.getContainer(c.containerId);
      say("container", one.component + " " + one.state + " " + one.host.equals(c.host));
    }
    for (NodeInformation n : api.getLiveNodes()) {
      say("node", api.getLiveNode(n.hostname).entries.keySet());
    }
    say("satisfied", api.getApplicationLiveness().allRequestsSatisfied);
    say("diagnostics", api.getApplicationDiagnostics().getFinalStatus());
    say("absent", refused(() -> api.getComponent("nothing")));
  }

  private void flex(String component, int count) throws Exception {
    ConfTreeOperations resources = api.getDesiredResources();
    resources.setComponentOpt(component, INSTANCES, count);
    api.putDesiredResources(resources.getConfTree());
    for (int i = 0; i < 600; i++) {
      ApplicationLivenessInformation liveness = api.getApplicationLiveness();
      if (liveness.allRequestsSatisfied && api.getComponent(component).actual == count) {
        say("flexed", count);
        break;
      }
      Thread.sleep(100);
    }
    resources.setComponentOpt(component, INSTANCES, -1);
    say("refused", refused(() -> {
      api.putDesiredResources(resources.getConfTree());
      return null;
    }));
  }

  private static String refused(Callable<?> call) throws Exception {
    try {
      call.call();
      return "no";
    } catch (IOException e) {
      return e.getClass().getSimpleName();
    }
  }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;

/**
 * Counts words twice over the same map outputs; before the second count it waits for a line, so that a test can kill the
 * executors that wrote them. Prints what each count gave and how many records the map side has handled, ever:
 * SparkShuffle RECORDS WORDS.
 */
public final class SparkShuffle {
  private static final int PARTITIONS = 6;

  private SparkShuffle() {
  }

  public static void main(String[] args) throws Exception {
    int records = Integer.parseInt(args[0]);
    int words = Integer.parseInt(args[1]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("shuffle"))) {
      LongAccumulator mapped = spark.sc().longAccumulator("mapped");
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < records; i++) {
        numbers.add(i);
      }
      JavaPairRDD<Integer, Integer> counts = spark.parallelize(numbers, PARTITIONS).mapToPair(i -> {
        mapped.add(1);
        return new Tuple2<>(i % words, 1);
      }).reduceByKey(Integer::sum, PARTITIONS);

      System.out.println("application " + spark.sc().applicationId());
      do {
        long right = counts.filter(t -> t._2() == records / words).count();
        System.out.println("right " + right + " mapped " + mapped.value());
        System.out.flush();
      } while ("again".equals(in.readLine()));
    }
  }
}

# A car under cruise control meets a hill: 60 seconds at ten samples a second, as CSV.
#   awk -v slope=4 -v start=15 -v hill=20 -f examples/robustness/plant.awk
# slope: of the hill, in percent; start and hill: when it begins and how long it takes, in seconds.
BEGIN {
  OFS = ","
  mass = 1200; drag = 30; force = 3000; gravity = 9.81
  dt = 0.1; wanted = 30
  speed = wanted
  # The throttle that holds the speed on level ground.
  held = drag * wanted / force
  sum = 0
  print "time", "speed", "throttle", "slope"
  for (step = 0; step <= 600; step++) {
    time = step * dt
    error = wanted - speed
    sum += error * dt
    throttle = held + 0.05 * error + 0.006 * sum
    if (throttle > 1) throttle = 1
    if (throttle < 0) throttle = 0
    now = (time >= start && time < start + hill) ? slope : 0
    printf "%.1f,%.3f,%.4f,%g\n", time, speed, throttle, now
    speed += dt * (force * throttle - drag * speed - mass * gravity * now / 100) / mass
  }
}

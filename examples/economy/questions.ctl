// Is a depression or a stagnation inevitable?
AF (d1 | d2 | stagnation)

// Can the economy always recover from a depression, if it comes early enough?
AG (time < 50 & (d1 | d2) -> EF (g1 | g2))

// Can a mild depression last for ten steps?
EF (d2 & EX (d2 & EX (d2 & EX (d2 & EX (d2 & EX (d2 & EX (d2 & EX (d2 & EX (d2 & EX d2)))))))))

// Can growth turn into stagnation at once?
EF ((g1 | g2) & EX stagnation)

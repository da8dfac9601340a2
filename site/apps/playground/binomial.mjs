// The binomial distribution of the number of false positives.

// Compared with the greatest probability. What is below does not change a quantile of 99 %.
const LEAST = 1e-12;

// Returns { first, shares }: shares[i] is the probability of the count first + i among n trials.
export function binomial(n, p) {
  if (!(p > 0)) return { first: 0, shares: [1] };
  if (p >= 1) return { first: n, shares: [1] };
  const mode = Math.min(n, Math.floor((n + 1) * p)), odds = p / (1 - p);
  const above = [], below = [];
  for (let k = mode, q = 1; k < n && q > LEAST; k++) above.push(q *= (n - k) / (k + 1) * odds);
  for (let k = mode, q = 1; k > 0 && q > LEAST; k--) below.push(q *= k / (n - k + 1) / odds);
  const all = [...below.reverse(), 1, ...above], sum = all.reduce((a, b) => a + b, 0);
  return { first: mode - below.length, shares: all.map((q) => q / sum) };
}

// Returns the least and the greatest count of an interval that has at least this confidence, with
// the same probability outside on both sides at most.
export function interval({ first, shares }, confidence) {
  const tail = (1 - confidence) / 2;
  let low = 0, high = shares.length - 1;
  for (let sum = shares[low]; sum <= tail; sum += shares[++low]);
  for (let sum = shares[high]; sum <= tail; sum += shares[--high]);
  return [first + low, first + high];
}

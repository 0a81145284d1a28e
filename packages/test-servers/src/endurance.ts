/**
 * How often a test repeats something: `large` in the endurance leg, which runs on demand, and
 * `small` in CI, where a test takes seconds.
 */
export function enduranceOr<Count>(large: Count, small: Count): Count {
  return process.env['PORTCULLIS_ENDURANCE'] === 'true' ? large : small
}

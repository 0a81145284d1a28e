/** First match wins: most browsers name others that they want to be taken for. */
const programs: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?(?:iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^(?:node|undici)\b/i, 'Node.js'],
  [/^Dart\//, 'a Dart app'],
  [/\bokhttp\//i, 'an Android app'],
  [/\bCFNetwork\//, 'an Apple app'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b|\bDarwin\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** What people call the device: `Firefox on Windows`. Only a hint, for anybody can send anything. */
export function toDeviceName(userAgent: string): string {
  const program = findName(programs, userAgent)
  const system = findName(systems, userAgent)
  if (program !== undefined && system !== undefined) return `${program} on ${system}`
  return program ?? system ?? 'Unknown device'
}

function findName(
  table: readonly (readonly [RegExp, string])[],
  userAgent: string,
): string | undefined {
  return table.find(([pattern]) => pattern.test(userAgent))?.[1]
}

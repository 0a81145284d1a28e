// Loaded before a server: answers its parent with the CPU time used so far, or with the memory that it holds.

const answers = {
  cpu() {
    const { user, system } = process.cpuUsage()
    return { microseconds: user + system }
  },
  memory() {
    globalThis.gc()
    const { heapUsed, external, rss } = process.memoryUsage()
    return { bytes: heapUsed + external, rss }
  },
}

process.on('disconnect', () => process.exit())
process.on('message', (question) => process.send(answers[question]()))

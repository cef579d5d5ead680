// Headline and order of the panels.
byId("title").textContent = run.title;
byId("scenario").textContent = [run.scenario, run.preset ? `preset ${run.preset}` : ""].filter(Boolean).join("; ");
byId("verdict").textContent = run.verdict;
byId("made-by").textContent = `Written by netsim ${run.version}. Utilisation, queues and times are of the simulated network; sizes in powers of 1,024 bytes, rates in powers of 1,000 bits.`;
run.facts.forEach(([name, value, says]) => byId("facts").append(make("div", {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, says)))));
for (const start of [startFabric, startHeat, startCharts, startRanks, startTables]) start();
document.documentElement.dataset.ready = "yes";

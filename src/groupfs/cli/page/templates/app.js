"use strict";
/* Sends files, follows runs, and notices when the program was closed. */
const root = document.body.dataset.root;
const gone = () => { document.getElementById("gone").hidden = false; };

for (const form of document.querySelectorAll("form[data-send]")) {
  const input = form.querySelector("input[type=file]");
  const bar = form.querySelector("progress");
  const status = form.querySelector("[role=status]");
  const alert = form.querySelector("[role=alert]");
  const refuse = (sentence) => {
    bar.hidden = true;
    status.textContent = "";
    alert.textContent = sentence;
    alert.hidden = false;
    input.value = "";
    input.disabled = false;
  };
  const send = (file) => {
    alert.hidden = true;
    if (file.size > form.dataset.largest) {
      return refuse(form.dataset.tooLarge.replace("{}", file.name).replace("{:,.0f}", Math.round(file.size / 1e6).toLocaleString("en")));
    }
    const request = new XMLHttpRequest();
    bar.hidden = false;
    bar.removeAttribute("value");
    input.disabled = true;
    status.textContent = `Reading ${file.name}`;
    request.upload.onprogress = (at) => { if (at.loaded < at.total) bar.value = at.loaded / at.total; else bar.removeAttribute("value"); };
    request.onerror = () => refuse("The file could not be sent: groupfs was closed, or the file was changed meanwhile.");
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* told below */ }
      if (answer.to && form.dataset.then) document.getElementById(form.dataset.then).requestSubmit();
      else if (answer.to) location.assign(answer.to);
      else refuse(answer.error || "The file could not be taken.");
    };
    request.open("POST", `${form.dataset.send}?name=${encodeURIComponent(file.name)}`);
    request.send(file);
  };
  input.addEventListener("change", () => input.files.length && send(input.files[0]));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(kind, (event) => {
      event.preventDefault();
      form.classList.toggle("over", kind === "dragover");
      if (kind !== "drop" || input.disabled) return;
      const files = event.dataTransfer.files;
      if (files.length === 1) send(files[0]);
      else refuse("Drop one file at a time.");
    });
  }
  input.disabled = false;
}
// a file that misses its place must not replace the page
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());

const running = document.querySelector("[data-state]");
const follow = async () => {
  try {
    const now = await (await fetch(running.dataset.state)).json();
    if (now.state !== "running") return location.reload();
    running.querySelector("progress").value = now.share;
    const status = running.querySelector("[role=status]");
    if (now.step && status.textContent !== now.step) status.textContent = now.step;
    setTimeout(follow, 400);
  } catch { gone(); }
};
if (running) follow();
setInterval(() => fetch(`${root}/seen`).catch(gone), 15000);

// the number of columns is asked for where it counts
const select = document.getElementById("select");
if (select) {
  const each = select.parentElement.querySelector("input");
  const show = () => { each.hidden = each.disabled = select.value !== "each"; };
  select.addEventListener("change", show);
  show();
}
// tables that are made when they are asked for take a moment
for (const link of document.querySelectorAll("a[data-made]")) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const status = document.getElementById("making");
    status.textContent = `Making the file for ${link.textContent}`;
    try {
      const answer = await fetch(link.href);
      if (!answer.ok) return location.assign(link.href);
      const saved = document.createElement("a");
      saved.href = URL.createObjectURL(await answer.blob());
      saved.download = link.download;
      saved.click();
      status.textContent = `Saved as ${saved.download}`;
    } catch { gone(); }
  });
}
// the report is as long as it is, without a bar of its own to scroll
const frame = document.querySelector("iframe");
if (frame) {
  const fit = () => {
    const inner = frame.contentDocument && frame.contentDocument.body;
    if (inner) new ResizeObserver(() => { frame.style.height = `${inner.scrollHeight + 4}px`; }).observe(inner);
  };
  frame.addEventListener("load", fit);
  fit();
}
addEventListener("pageshow", (event) => event.persisted && location.reload());

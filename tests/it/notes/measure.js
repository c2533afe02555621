"use strict";
// Runs in the page around the frame; writes {width, paper, texts, links, faults} into #found.
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const page = frame.contentDocument;
  const view = frame.contentWindow;
  const faults = [];
  const name = (element) => `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 40)}"`;
  const numbers = (colour) => {
    const parts = colour.match(/[\d.]+/g).map(Number);
    return colour.startsWith("color(srgb") ? parts.map((part, at) => (at < 3 ? part * 255 : part)) : parts;
  };
  const luminance = ([red, green, blue]) => {
    const part = (value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(view.getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const scrolls = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (["auto", "scroll"].includes(view.getComputedStyle(at).overflowX)) return true;
    }
    return false;
  };

  if (page.documentElement.scrollWidth > page.documentElement.clientWidth) faults.push("the page scrolls sideways");
  let texts = 0;
  for (const element of page.body.querySelectorAll("*")) {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    const box = element.getBoundingClientRect();
    if (!own.length || !box.width || !box.height || element.closest("svg")) continue;
    texts += 1;
    const style = view.getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    if (size < 11) faults.push(`${name(element)} is ${size} px small`);
    if (box.right > view.innerWidth + 1 && !scrolls(element)) faults.push(`${name(element)} sticks out`);
    const words = own.map((node) => node.data.trim()).join(" ");
    if (style.display !== "inline" && words.length > 5 && box.width < 2.5 * size && box.height > 3 * size) {
      faults.push(`${name(element)} is ${box.width} px narrow`);
    }
    const [one, two] = [luminance(numbers(style.color)), luminance(ground(element))];
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < 4.5) faults.push(`${name(element)} has a contrast of ${contrast.toFixed(1)}`);
  }
  const links = [...page.querySelectorAll('a[href^="#"]')];
  for (const link of links) {
    if (!page.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)))) faults.push(`${name(link)} leads nowhere`);
  }
  const paper = view.getComputedStyle(page.body).backgroundColor;
  document.getElementById("found").textContent = JSON.stringify({
    width: view.innerWidth, paper, texts, links: links.length, faults,
  });
});

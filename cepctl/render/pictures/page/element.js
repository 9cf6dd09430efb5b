// Elements with their attributes and children; texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

function byId(name) {
  return document.getElementById(name);
}

function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

// Certain and nearly certain are told apart.
function probabilityText(probability) {
  return probability < 1 - 1e-9 && percent(probability) === "100 %" ? ">99.99 %" : percent(probability);
}

// The same with digits that stand below each other.
function evenPercent(probability) {
  const text = probabilityText(probability);
  return /^\d/.test(text) && probability >= 1e-4 ? `${(100 * probability).toFixed(2)} %` : text;
}

function percent(probability) {
  const hundredths = probability * 100;
  if (hundredths > 0 && hundredths < 0.01) return `${Number(hundredths.toPrecision(2))} %`;
  return `${Number(hundredths.toFixed(2))} %`;
}
